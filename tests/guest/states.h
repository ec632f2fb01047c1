/* SPDX-License-Identifier: GPL-2.0 */
/*
 * vCPUs that are put into a state, lose their CPU in it, are looked at and come out
 * again, round after round. vCPU 0 looks, vCPU 1 sends what others send, and both
 * run in the calling thread; the rest are subjects with a thread each on CPU 1.
 */
#ifndef KVMYIELD_TESTS_STATES_H
#define KVMYIELD_TESTS_STATES_H

#include "vm.h"

#define FIRST_SUBJECT		2
#define MSR_KVM_PREEMPT_COUNT	0x4b564d09

enum subject_state {
	IN_KERNEL,		/* interrupts off, and on again */
	IN_USER,
	KERNEL_IRQS_OFF,
	USER_IRQS_OFF,		/* user mode with the right to */
	IRQ_PENDING,		/* a device's, sent when it had no CPU */
	USER_IRQ_PENDING,
	IRQ_BLOCKED,		/* sent while it ran with interrupts off */
	IRQ_TAKEN,
	IPI_MINE,		/* pending, sent by who will look */
	IPI_OTHER,		/* pending, sent by vCPU 1 */
	IPI_BOTH,		/* by both, with a vector each */
	IPI_TAKEN,
	IPI_TAKEN_IRQ,		/* taken, then a device's of the same vector */
	KICKED,
	KICK_TAKEN,		/* kicked out of its halt, and ran on */
	WOKEN_BY_IRQ,
	WOKEN_BY_IPI,
	WOKEN_BY_KICK,
	WOKE_AND_RAN,
	HALTED,			/* and not woken */
	NR_STATES
};

struct subject {
	struct vcpu		*vcpu;
	pid_t			tid;
	sem_t			go;
	bool			out;	/* of the guest */
	enum subject_state	state;
	bool			hinted;
	uint32_t		hint;
	uint32_t		word;	/* where it writes the hint; 0: a place of its own */
	unsigned long long	posted_ns, sent_ns, sent_done_ns;
};

struct subjects {
	struct vm		*vm;
	int			nr;
	bool			keep_msr;	/* leave MSR_KVM_PREEMPT_COUNT alone */
	struct hog		*hog;
	unsigned long long	frozen_ns;
	struct subject		of[VM_MAX_VCPUS];
};

unsigned long long now_ns(void);

/*
 * A VM with so many subjects, none of them in the guest. The hog has been started
 * and released: what makes and ends VMs waits for work on every CPU.
 */
struct subjects *subjects_create(int nr, struct hog *hog);
/* Put those of n VMs into the states of of[]; the hog has CPU 1 afterwards. */
void subjects_freeze(struct subjects **s, int n);
/* Let a vCPU write the MSR; false: it got #GP. */
bool subjects_wrmsr(struct subjects *s, int index, uint64_t value);
/* Let vCPU 0 write its ICR. */
void subjects_icr(struct subjects *s, int to, uint32_t low);
/* One PAUSE of vCPU 0. */
void subjects_look(struct subjects *s, bool user);
/* Let them take what is pending, and come out of the guest. */
void subjects_thaw(struct subjects **s, int n);
void subjects_destroy(struct subjects *s);

#endif
