/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RCU as a depth that is checked. A callback runs, and frees, the moment no
 * reader is left: what a reader kept too long is found by the sanitizer.
 */
#ifndef __SHIM_LINUX_RCUPDATE_H
#define __SHIM_LINUX_RCUPDATE_H

#include <linux/types.h>

struct rcu_head {
	struct rcu_head	*next;
	void		(*fn)(struct rcu_head *head);
};

void rcu_read_lock(void);
void rcu_read_unlock(void);
void call_rcu(struct rcu_head *head, void (*fn)(struct rcu_head *head));
void fake_rcu_check_reader(const char *who);

#define rcu_dereference(p) ({						\
	fake_rcu_check_reader("rcu_dereference");			\
	READ_ONCE(p); })
#define rcu_dereference_protected(p, held) ({				\
	(void)(held);							\
	(p); })
#define rcu_assign_pointer(p, v) WRITE_ONCE(p, v)

#endif
