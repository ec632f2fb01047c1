// SPDX-License-Identifier: GPL-2.0
/* Guests that stand still: how each sibling gets into its state and out again. */
#define _GNU_SOURCE
#include <sched.h>
#include <unistd.h>

#include "frozen.h"

static enum guest_code code_for(enum state s)
{
	switch (s) {
	case SPINNING:
		return GUEST_PAUSE;
	case WOKEN:
		return GUEST_HALT;
	default:
		return GUEST_LOOP;
	}
}

int start_siblings(struct vm *vm, state_fn state)
{
	int i, spinning = 0;
	enum state s;

	for (i = 1; i < vm->nr; i++) {
		s = state(i, vm->nr);
		vm_set_code(vm, i, code_for(s), s == USER || s == USER_INTERRUPT,
			    0);
		vm_start(vm, i, 1);
		if (s == SPINNING)
			spinning = i;
	}
	vm_release(vm);
	vm_wait_flags(vm, 1);

	return spinning;
}

void freeze_siblings(struct vm *vm, state_fn state, bool realtime,
		     struct hog *hog)
{
	struct sched_param prio = { .sched_priority = 1 };
	enum state s;
	int i;

	hog_start(hog, 1);
	for (i = 1; i < vm->nr; i++) {
		s = state(i, vm->nr);
		if (s == USER_INTERRUPT || s == KERNEL_INTERRUPT || s == WOKEN)
			vm_interrupt(vm, i, FROZEN_VECTOR);
		if (realtime &&
		    pthread_setschedparam(vm->vcpus[i].thread, SCHED_RR, &prio))
			die("cannot make vCPU %d a real-time thread", i);
	}
}

void thaw_and_destroy(struct vm *vm, struct hog *hog)
{
	/* Before the hog: the interrupts that are pending have no handlers. */
	vm_stop(vm);
	hog_stop(hog);
	vm_destroy(vm);
}
