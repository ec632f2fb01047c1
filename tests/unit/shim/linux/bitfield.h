/* SPDX-License-Identifier: GPL-2.0 */
/* Fields of words, as far as the hook packs them. */
#ifndef __SHIM_LINUX_BITFIELD_H
#define __SHIM_LINUX_BITFIELD_H

#include <linux/types.h>

#include <linux/bits.h>
#define GENMASK_ULL(h, l)	((~0ull >> (63 - (h))) & (~0ull << (l)))

#define FIELD_GET(mask, word) (((word) & (mask)) >> __builtin_ctzll(mask))
#define FIELD_PREP(mask, value) (((u64)(value) << __builtin_ctzll(mask)) & (mask))

#define try_cmpxchg64(ptr, old, new) \
	__atomic_compare_exchange_n(ptr, old, new, false, __ATOMIC_SEQ_CST, \
				    __ATOMIC_SEQ_CST)
#define cmpxchg64(ptr, old, new) __sync_val_compare_and_swap(ptr, old, new)

#endif
