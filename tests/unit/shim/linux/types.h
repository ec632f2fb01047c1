/* SPDX-License-Identifier: GPL-2.0 */
/* The part of the kernel's language that the yield hook is written in. */
#ifndef __SHIM_LINUX_TYPES_H
#define __SHIM_LINUX_TYPES_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef uint8_t u8;
typedef int32_t s32;
typedef int64_t s64;
typedef uint32_t u32;
typedef unsigned long long u64;

#define __weak		__attribute__((weak))
#define __percpu
#define EXPORT_SYMBOL_GPL(symbol) struct shim_export_##symbol
#define __rcu

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#define smp_wmb()	__sync_synchronize()
#define smp_rmb()	__sync_synchronize()
#define BUILD_BUG_ON(x)	_Static_assert(!(x), #x)
#define READ_ONCE(x)	(*(const volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, v) (*(volatile typeof(x) *)&(x) = (v))
/* The two options that matter here are defined as 1. */
#define IS_ENABLED(option) (option)

#define min_t(type, a, b) ({						\
	type a_ = (a), b_ = (b);					\
	a_ < b_ ? a_ : b_; })

#define max_t(type, a, b) ({						\
	type a_ = (a), b_ = (b);					\
	a_ > b_ ? a_ : b_; })

#define container_of(ptr, type, member)					\
	((type *)((char *)(ptr) - offsetof(type, member)))

/* With two arguments, as the hook uses it: the target is an array. */
#define strscpy(dst, src) snprintf(dst, sizeof(dst), "%s", src)

void fake_log(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
#define pr_warn(fmt, ...) fake_log(fmt, ##__VA_ARGS__)

typedef struct {
	int counter;
} atomic_t;

static inline int atomic_read(const atomic_t *v)
{
	return READ_ONCE(v->counter);
}

static inline void atomic_set(atomic_t *v, int i)
{
	WRITE_ONCE(v->counter, i);
}

static inline int atomic_inc_return(atomic_t *v)
{
	return ++v->counter;
}

#endif
