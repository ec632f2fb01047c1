// SPDX-License-Identifier: GPL-2.0
/* The life of a VM of one page; tinyvm.h says of which steps. */
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tinyvm.h"

#define DEVICE		"/dev/kvm"
#define PAGE		4096

/* As it is on the way: what fails half-way is closed by the end of the process. */
struct life {
	int		kvm;
	int		vm;
	int		vcpu;
	struct kvm_run	*run;
};

int tinyvm_fail(int status, const char *hint, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	/* In one piece: several processes may have something to say. */
	fprintf(stderr, hint ? "hello: %s\nhint: %s\n" : "hello: %s\n", text, hint);

	return status;
}

uint64_t tinyvm_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);

	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static int open_kvm(int *fd)
{
	*fd = open(DEVICE, O_RDWR | O_CLOEXEC);
	if (*fd >= 0)
		return TINYVM_DONE;
	if (errno == EACCES || errno == EPERM)
		return tinyvm_fail(TINYVM_NO_KVM, "be root, or in the group kvm",
				   DEVICE " may not be opened: %s", strerror(errno));

	return tinyvm_fail(TINYVM_NO_KVM, "load kvm_amd or kvm_intel; in a VM, nested virtualisation must be on",
			   DEVICE " cannot be opened: %s", strerror(errno));
}

static int refused(const char *what)
{
	const char *hint = NULL;

	if (errno == EMFILE || errno == ENFILE)
		hint = "ulimit -n, or fewer at a time";
	if (errno == ENOMEM)
		hint = "fewer at a time";

	return tinyvm_fail(TINYVM_REFUSED, hint, "KVM refuses %s: %s", what, strerror(errno));
}

int tinyvm_init(struct tinyvm *vm, const uint8_t *code, size_t len)
{
	int kvm, size, version, status = open_kvm(&kvm);

	if (status)
		return status;
	version = ioctl(kvm, KVM_GET_API_VERSION, 0);
	size = ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0);
	close(kvm);
	if (version != KVM_API_VERSION || size <= 0)
		return tinyvm_fail(TINYVM_NO_KVM, NULL, DEVICE " is not KVM as this program knows it");

	vm->page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (vm->page == MAP_FAILED)
		return tinyvm_fail(TINYVM_REFUSED, NULL, "no memory for a guest: %s", strerror(errno));
	memcpy(vm->page, code, len < PAGE ? len : PAGE);
	vm->run_size = size;

	return TINYVM_DONE;
}

static int create_vm(struct life *l)
{
	l->vm = ioctl(l->kvm, KVM_CREATE_VM, 0);

	return l->vm < 0 ? refused("a VM") : TINYVM_DONE;
}

static int give_memory(const struct tinyvm *vm, struct life *l)
{
	struct kvm_userspace_memory_region slot = {
		.memory_size = PAGE,
		.userspace_addr = (uintptr_t)vm->page,
	};

	return ioctl(l->vm, KVM_SET_USER_MEMORY_REGION, &slot) ?
	       refused("the VM its memory") : TINYVM_DONE;
}

static int create_vcpu(struct life *l)
{
	l->vcpu = ioctl(l->vm, KVM_CREATE_VCPU, 0);

	return l->vcpu < 0 ? refused("a vCPU") : TINYVM_DONE;
}

/* Real mode, as after a reset, but at address 0. */
static int set_up(const struct tinyvm *vm, struct life *l)
{
	struct kvm_regs regs = { .rflags = 2 };
	struct kvm_sregs sregs;

	l->run = mmap(NULL, vm->run_size, PROT_READ | PROT_WRITE, MAP_SHARED, l->vcpu, 0);
	if (l->run == MAP_FAILED)
		return refused("the vCPU's shared page");
	if (ioctl(l->vcpu, KVM_GET_SREGS, &sregs))
		return refused("to tell the vCPU's registers");
	sregs.cs.base = 0;
	sregs.cs.selector = 0;
	if (ioctl(l->vcpu, KVM_SET_SREGS, &sregs) || ioctl(l->vcpu, KVM_SET_REGS, &regs))
		return refused("to set the vCPU's registers");

	return TINYVM_DONE;
}

static const char *exit_name(uint32_t reason)
{
	static const struct {
		uint32_t	reason;
		const char	*name;
	} names[] = {
		{ KVM_EXIT_IO, "an access to a port" },
		{ KVM_EXIT_MMIO, "an access to memory that it has not" },
		{ KVM_EXIT_SHUTDOWN, "a triple fault" },
		{ KVM_EXIT_FAIL_ENTRY, "the CPU would not enter it" },
		{ KVM_EXIT_INTERNAL_ERROR, "KVM cannot emulate it" },
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].reason == reason)
			return names[i].name;
	}

	return "see KVM_EXIT_ in linux/kvm.h";
}

static int run(struct life *l)
{
	int ret;

	do {
		ret = ioctl(l->vcpu, KVM_RUN, 0);
	} while (ret && (errno == EINTR || errno == EAGAIN));
	if (ret)
		return refused("to run the vCPU");
	if (l->run->exit_reason == KVM_EXIT_HLT)
		return TINYVM_DONE;

	return tinyvm_fail(TINYVM_OTHERWISE, NULL,
			   "a VM ended with exit reason %u (%s) and not with %u, the hlt",
			   l->run->exit_reason, exit_name(l->run->exit_reason), KVM_EXIT_HLT);
}

static int close_all(const struct tinyvm *vm, struct life *l)
{
	if (munmap(l->run, vm->run_size) || close(l->vcpu) || close(l->vm) || close(l->kvm))
		return refused("to close the VM");

	return TINYVM_DONE;
}

static int one_step(enum tinyvm_step step, const struct tinyvm *vm, struct life *l)
{
	switch (step) {
	case TINYVM_OPEN:		return open_kvm(&l->kvm);
	case TINYVM_CREATE_VM:		return create_vm(l);
	case TINYVM_MEMORY:		return give_memory(vm, l);
	case TINYVM_CREATE_VCPU:	return create_vcpu(l);
	case TINYVM_SET_UP:		return set_up(vm, l);
	case TINYVM_RUN:		return run(l);
	case TINYVM_CLOSE:		return close_all(vm, l);
	case TINYVM_NR_STEPS:		break;
	}

	return TINYVM_DONE;
}

int tinyvm_live(const struct tinyvm *vm, uint64_t ns[TINYVM_NR_STEPS])
{
	struct life life = { -1, -1, -1 };
	enum tinyvm_step step;
	uint64_t from;
	int status;

	for (step = 0; step < TINYVM_NR_STEPS; step++) {
		if (step == TINYVM_CLOSE && vm->look) {
			status = vm->look(vm->look_arg);
			if (status)
				return status;
		}
		from = tinyvm_now();
		status = one_step(step, vm, &life);
		if (status)
			return status;
		ns[step] = tinyvm_now() - from;
	}

	return TINYVM_DONE;
}

static int hold_one(bool apic)
{
	struct life l;
	int status = open_kvm(&l.kvm);

	if (!status)
		status = create_vm(&l);
	if (!status && apic && ioctl(l.vm, KVM_CREATE_IRQCHIP, 0))
		status = refused("interrupt controllers");
	if (!status)
		status = create_vcpu(&l);

	return status;
}

int tinyvm_hold(void)
{
	int status = hold_one(true);

	return status ?: hold_one(false);
}
