/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Guests that stand still: vCPU 0 spins on CPU 0, which it has for itself. All
 * others are put into their state on CPU 1 and then lose it to a real-time
 * thread, so that they stay as they are: a directed yield to one of them succeeds
 * and moves nothing.
 */
#ifndef KVMYIELD_TESTS_FROZEN_H
#define KVMYIELD_TESTS_FROZEN_H

#include "vm.h"

#define FROZEN_VECTOR	0x41

enum state {
	KERNEL,			/* preempted in kernel mode */
	USER,			/* in user mode */
	KERNEL_INTERRUPT,	/* with an interrupt that it has not taken */
	USER_INTERRUPT,
	SPINNING,		/* in a pause-loop exit of its own */
	WOKEN,			/* woken from HLT, and not yet running */
};

typedef enum state (*state_fn)(int index, int nr);

/* Returns the index of a sibling that spins, 0 if there is none. */
int start_siblings(struct vm *vm, state_fn state);
/* realtime: of another scheduling class, so that yields to them return 0. */
void freeze_siblings(struct vm *vm, state_fn state, bool realtime,
		     struct hog *hog);
void thaw_and_destroy(struct vm *vm, struct hog *hog);

#endif
