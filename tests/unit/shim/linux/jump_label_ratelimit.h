/* SPDX-License-Identifier: GPL-2.0 */
/* Static keys as counters; a deferred decrement is done at once. */
#ifndef __SHIM_LINUX_JUMP_LABEL_RATELIMIT_H
#define __SHIM_LINUX_JUMP_LABEL_RATELIMIT_H

struct static_key_false {
	int enabled;
};

struct static_key_false_deferred {
	struct static_key_false key;
	unsigned long timeout;
};

#define HZ 250
#define msecs_to_jiffies(ms) ((ms) / 4)
#define __read_mostly
#define DEFINE_STATIC_KEY_DEFERRED_FALSE(name, rl) \
	struct static_key_false_deferred name
#define static_branch_unlikely(key) ((key)->enabled > 0)
#define static_branch_deferred_inc(x) ((x)->key.enabled++)
#define static_branch_slow_dec_deferred(x) ((x)->key.enabled--)

#endif
