/* SPDX-License-Identifier: GPL-2.0 */
/* The life of a VM of one page that does one hlt, and what each step of it takes. */
#ifndef KVMYIELD_TINYVM_H
#define KVMYIELD_TINYVM_H

#include <stddef.h>
#include <stdint.h>

enum tinyvm_step {
	TINYVM_OPEN,		/* /dev/kvm */
	TINYVM_CREATE_VM,
	TINYVM_MEMORY,		/* one slot of one page */
	TINYVM_CREATE_VCPU,
	TINYVM_SET_UP,		/* the shared page mapped, registers set */
	TINYVM_RUN,		/* until its hlt */
	TINYVM_CLOSE,		/* all of it: the VM is destroyed in here */
	TINYVM_NR_STEPS,
};

/* What programs that make tiny VMs exit with. */
enum tinyvm_status {
	TINYVM_DONE	= 0,
	TINYVM_USAGE	= 1,
	TINYVM_REFUSED	= 2,
	TINYVM_OTHERWISE = 3,	/* it ended, but not by its hlt */
	TINYVM_NO_KVM	= 4,
};

/* Called before the VM is closed, and not timed; anything but 0 ends its life with that. */
typedef int (*tinyvm_look)(void *arg);

struct tinyvm {
	void		*page;
	size_t		run_size;
	tinyvm_look	look;
	void		*look_arg;
};

/**
 * tinyvm_init - what the VMs of one process have in common
 * @vm: receives it
 * @code: what they run, in real mode, at address 0
 * @len: of that
 *
 * Return: a tinyvm_status; if it is not TINYVM_DONE, the reason was printed.
 */
int tinyvm_init(struct tinyvm *vm, const uint8_t *code, size_t len);

/**
 * tinyvm_live - create, run and destroy one VM
 * @vm: from tinyvm_init()
 * @ns: receives what each step took, by the clock on the wall
 *
 * Return: as tinyvm_init().
 */
int tinyvm_live(const struct tinyvm *vm, uint64_t ns[TINYVM_NR_STEPS]);

/**
 * tinyvm_hold - make VMs that keep KVM busy, and keep them
 *
 * One whose vCPU has an APIC and one whose vCPU has none, neither ever run: KVM has
 * static keys for the first of either, and each costs the patching of code.
 *
 * Return: as tinyvm_init(). The VMs live until the process ends.
 */
int tinyvm_hold(void);

/* Print a sentence on stderr, with a hint if there is one; returns status. */
__attribute__((format(printf, 3, 4)))
int tinyvm_fail(int status, const char *hint, const char *format, ...);

uint64_t tinyvm_now(void);

#endif
