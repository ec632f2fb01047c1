/* SPDX-License-Identifier: GPL-2.0 */
/* Bit maps, walked one bit at a time: slow, and easy to believe. */
#ifndef __SHIM_LINUX_BITMAP_H
#define __SHIM_LINUX_BITMAP_H

#include <linux/types.h>

#define SHIM_LONG_BITS	(8 * sizeof(long))
#define SHIM_LONGS(n)	(((n) + SHIM_LONG_BITS - 1) / SHIM_LONG_BITS)

#define DECLARE_BITMAP(name, bits) unsigned long name[SHIM_LONGS(bits)]

static inline void bitmap_zero(unsigned long *map, unsigned int bits)
{
	memset(map, 0, SHIM_LONGS(bits) * sizeof(long));
}

static inline bool test_bit(unsigned long nr, const unsigned long *map)
{
	return map[nr / SHIM_LONG_BITS] >> nr % SHIM_LONG_BITS & 1;
}

static inline void __set_bit(unsigned long nr, unsigned long *map)
{
	map[nr / SHIM_LONG_BITS] |= 1ul << nr % SHIM_LONG_BITS;
}

static inline bool test_and_set_bit(unsigned long nr, unsigned long *map)
{
	bool was = test_bit(nr, map);

	__set_bit(nr, map);
	return was;
}

static inline unsigned long __ffs(unsigned long word)
{
	return __builtin_ctzl(word);
}

/* From start to the end, then from 0 to before start. */
#define for_each_set_bit_wrap(bit, map, size, start)			\
	for (unsigned int n_ = 0;					\
	     n_ < (size) && ((bit) = ((start) + n_) % (size), true);	\
	     n_++)							\
		if (test_bit(bit, map))

#endif
