/* SPDX-License-Identifier: GPL-2.0 */
/* Static keys as counters. */
#ifndef __SHIM_LINUX_JUMP_LABEL_H
#define __SHIM_LINUX_JUMP_LABEL_H

struct static_key_false {
	int enabled;
};

#define DECLARE_STATIC_KEY_FALSE(name) extern struct static_key_false name
#define DEFINE_STATIC_KEY_FALSE(name) struct static_key_false name
#define static_branch_unlikely(key) ((key)->enabled > 0)
#define static_branch_inc(key) ((key)->enabled++)
#define static_branch_dec(key) ((key)->enabled--)

#endif
