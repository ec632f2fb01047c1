/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __SHIM_LINUX_BITS_H
#define __SHIM_LINUX_BITS_H

#define BIT(n)			(1ul << (n))
#define BIT_ULL(n)		(1ull << (n))

#endif
