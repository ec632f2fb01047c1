/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __SHIM_LINUX_SCHED_CLOCK_H
#define __SHIM_LINUX_SCHED_CLOCK_H

#include <linux/types.h>

extern u64 fake_clock;

static inline u64 local_clock(void)
{
	return fake_clock;
}

#endif
