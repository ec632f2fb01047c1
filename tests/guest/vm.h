/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Little guests on the raw KVM API: one page of 32-bit code, no firmware, each
 * vCPU a thread that is put where the test wants it.
 */
#ifndef KVMYIELD_TESTS_VM_H
#define KVMYIELD_TESTS_VM_H

#include <linux/kvm.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define VM_MAX_VCPUS	256
#define VM_MEM_SIZE	0x20000
#define VM_FLAGS	0x8000		/* a word a vCPU: set once it runs */
#define VM_LOCK		0xa000		/* ticket lock: next, owner */
#define VM_COUNTER	0xb000

/* What a vCPU does in the guest. */
enum guest_code {
	GUEST_LOOP,		/* raise the flag, then run for ever */
	GUEST_HALT,		/* raise the flag, then HLT for ever */
	GUEST_PAUSE,		/* raise the flag, then PAUSE for ever */
	GUEST_PAUSE_N,		/* PAUSE arg times, then end */
	GUEST_LOCKED_ADD,	/* arg increments under a ticket lock, then end */
};

struct vm;

struct vcpu {
	struct vm	*vm;
	int		fd;
	int		index;
	struct kvm_run	*run;
	pthread_t	thread;
	pid_t		tid;
	int		cpu;
	bool		started;
};

struct vm {
	int		fd;
	int		nr;
	uint8_t		*mem;
	size_t		run_size;
	bool		released;
	struct vcpu	vcpus[VM_MAX_VCPUS];
};

void die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

struct vm *vm_create(int nr_vcpus);
void vm_set_code(struct vm *vm, int index, enum guest_code code, bool user,
		 uint32_t arg);
/* The same for code of one's own; rip, rflags' IF and the rest are taken as given. */
void vm_set_regs(struct vm *vm, int index, bool user, struct kvm_regs *regs);
/* Make a thread for a vCPU, on one CPU; -1: on any. It runs once released. */
void vm_start(struct vm *vm, int index, int cpu);
void vm_release(struct vm *vm);
/* Run a vCPU in the calling thread until its code ends. */
void vm_run_here(struct vm *vm, int index);
void vm_wait_flags(struct vm *vm, int first);
void vm_join(struct vm *vm, int index);
/* Make a fixed interrupt pending in a vCPU's local APIC. */
void vm_interrupt(struct vm *vm, int index, uint8_t vector);
uint32_t vm_read(const struct vm *vm, uint32_t addr);
/* Tell every vCPU to end before it enters the guest again. */
void vm_stop(struct vm *vm);
void vm_destroy(struct vm *vm);

void pin_thread(pthread_t thread, int cpu);

/* Keeps a CPU from everybody of a lower class, so that nothing there runs. */
struct hog {
	pthread_t	thread;
	sem_t		wanted;
	volatile int	running;
	volatile int	release;
	volatile int	stop;
	int		cpu;
};

/* Started, it has the CPU; it may be told to let go of it, and take it again. */
void hog_start(struct hog *hog, int cpu);
void hog_release(struct hog *hog);
void hog_take(struct hog *hog);
void hog_stop(struct hog *hog);

#endif
