/* SPDX-License-Identifier: GPL-2.0 */
/* A VM, a host and an attached policy, as far as the yield hook can tell. */
#ifndef __FAKE_KVM_H
#define __FAKE_KVM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <linux/kvm_host.h>
#include <linux/module.h>
#include <linux/rcupdate.h>

#include "../../kernel/virt/kvm/yield.h"

#define FAKE_MAX_CALLS	100000

struct bpf_link {
	u32	id;
	int	refs;
};

/* The world: reset for each test by fake_setup(). */
extern int fake_rcu_depth;
extern u64 fake_clock;
extern struct kvm *fake_vm;
extern struct kvm_vcpu *fake_running;
extern int fake_ejects;
extern int fake_warnings;
extern u32 fake_random;

/* Whom kvm_vcpu_yield_to() was called for, by index. */
extern int fake_targets[FAKE_MAX_CALLS];
extern unsigned int fake_nr_targets;

/* What kvm_vcpu_yield_to() returns, and what happens meanwhile; NULL: 1. */
extern int (*fake_yield)(struct kvm_vcpu *target);
/* What happens while the hook lets others run between batches. */
extern void (*fake_resched)(void);
extern int fake_nr_resched;

int fake_setup(void **state);
int fake_teardown(void **state);

/* A VM of so many vCPUs, all running in user mode; replaces the last one. */
void fake_make_vm(unsigned int nr);
struct kvm_vcpu *fake_vcpu(unsigned int index);
/* Preempted in kernel mode, and waiting for a CPU. */
void fake_make_ready(unsigned int index);
void fake_make_all_ready(void);

/*
 * Run as if on another CPU: the readers of this one go on reading, and RCU
 * callbacks wait for them.
 */
void fake_other_cpu(void (*fn)(void));

/*
 * Attach, replace and detach as yield_bpf.c does. The policy is copied to
 * memory that is released after a grace period, as a BPF map is.
 */
int fake_attach(const struct kvm_yield_ops *ops);
int fake_replace(const struct kvm_yield_ops *ops);
void fake_detach(void);
struct kvm_yield_status fake_status(void);

/* A whole exit as kvm_vcpu_on_spin() begins: true if the hook decided it. */
bool fake_spin(unsigned int index, bool kernel_only);

/*
 * A policy that is told what to say. Per vCPU: a score, and whether to write
 * dy_eligible. It checks what must hold in each call, and records them.
 */
struct fake_call {
	struct kvm_yield_spin		spin;
	struct kvm_yield_candidate	cand;
	int				ret;
};

extern s32 fake_score[KVM_MAX_VCPUS];
extern int fake_write_eligible[KVM_MAX_VCPUS];	/* 0 no, 1 true, -1 false */
extern struct fake_call fake_ranks[FAKE_MAX_CALLS], fake_yieldeds[FAKE_MAX_CALLS];
extern unsigned int fake_nr_ranks, fake_nr_yieldeds;
extern const struct kvm_yield_ops fake_scripted;

void fake_score_all(s32 score);
void fake_forget(void);

/* Compare the yields so far to a list of indices. */
#define assert_targets(...) do {					\
	const int want_[] = { __VA_ARGS__ };				\
	fake_check_targets(want_, ARRAY_LEN(want_), __FILE__, __LINE__);\
} while (0)
#define assert_no_target()						\
	fake_check_targets(NULL, 0, __FILE__, __LINE__)
#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

void fake_check_targets(const int *want, unsigned int nr, const char *file,
			int line);

#endif
