/* SPDX-License-Identifier: GPL-2.0 */
/* A mutex that is checked: taken once, given back, and not by an RCU reader. */
#ifndef __SHIM_LINUX_MUTEX_H
#define __SHIM_LINUX_MUTEX_H

#include <linux/types.h>

struct mutex {
	bool held;
};

#define DEFINE_MUTEX(name) struct mutex name
#define lockdep_is_held(m) fake_mutex_check_held(m)

void mutex_lock(struct mutex *m);
void mutex_unlock(struct mutex *m);
bool fake_mutex_check_held(const struct mutex *m);

#endif
