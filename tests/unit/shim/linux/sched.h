/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __SHIM_LINUX_SCHED_H
#define __SHIM_LINUX_SCHED_H

/* The place where others run, and may replace the policy. */
void cond_resched(void);

#endif
