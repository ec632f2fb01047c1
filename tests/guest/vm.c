// SPDX-License-Identifier: GPL-2.0
/* Little guests on the raw KVM API: the part that every test of them needs. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "vm.h"

#define VM_END_PORT	0x10
#define VM_CODE		0x1000
#define VM_STOP_SIGNAL	SIGUSR1

/*
 * The guest's code. ebx: this vCPU's flag; ecx: how often; esi: the lock; edi:
 * the counter. Position-independent, so that it runs where it is copied to.
 */
asm(".pushsection .rodata\n"
    ".code32\n"
    "guest_loop:\n"
    "	movl	$1, (%ebx)\n"
    "1:	jmp	1b\n"
    "guest_halt:\n"
    "	movl	$1, (%ebx)\n"
    "1:	hlt\n"
    "	jmp	1b\n"
    "guest_pause:\n"
    "	movl	$1, (%ebx)\n"
    "1:	pause\n"
    "	jmp	1b\n"
    "guest_pause_n:\n"
    "1:	pause\n"
    "	decl	%ecx\n"
    "	jnz	1b\n"
    "	out	%al, $0x10\n"
    "guest_locked_add:\n"
    "	movl	$1, (%ebx)\n"
    "1:	movl	$1, %eax\n"
    "	lock xaddl %eax, (%esi)\n"
    "2:	cmpl	%eax, 4(%esi)\n"
    "	je	3f\n"
    "	pause\n"
    "	jmp	2b\n"
    "3:	movl	(%edi), %edx\n"
    "	incl	%edx\n"
    "	movl	$200, %ebp\n"
    "4:	decl	%ebp\n"
    "	jnz	4b\n"
    "	movl	%edx, (%edi)\n"
    "	incl	4(%esi)\n"
    "	decl	%ecx\n"
    "	jnz	1b\n"
    "	out	%al, $0x10\n"
    "guest_end:\n"
    ".code64\n"
    ".popsection\n");

extern const char guest_loop[], guest_halt[], guest_pause[], guest_pause_n[];
extern const char guest_locked_add[], guest_end[];

void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("# ", stderr);
	vfprintf(stderr, fmt, ap);
	fprintf(stderr, " (%s)\n", strerror(errno));
	va_end(ap);
	exit(2);
}

static void on_stop(int sig)
{
}

static void vcpu_create(struct vm *vm, int i)
{
	struct vcpu *v = &vm->vcpus[i];
	struct kvm_lapic_state lapic;

	v->vm = vm;
	v->index = i;
	v->fd = ioctl(vm->fd, KVM_CREATE_VCPU, i);
	if (v->fd < 0)
		die("cannot create vCPU %d", i);
	v->run = mmap(NULL, vm->run_size, PROT_READ | PROT_WRITE, MAP_SHARED,
		      v->fd, 0);
	if (v->run == MAP_FAILED)
		die("cannot map vCPU %d", i);

	/* Software-enabled, or the APIC would drop what it is sent. */
	if (ioctl(v->fd, KVM_GET_LAPIC, &lapic))
		die("cannot read the APIC of vCPU %d", i);
	*(uint32_t *)&lapic.regs[0xf0] |= 0x1ff;
	if (ioctl(v->fd, KVM_SET_LAPIC, &lapic))
		die("cannot enable the APIC of vCPU %d", i);
}

struct vm *vm_create(int nr_vcpus)
{
	struct kvm_userspace_memory_region slot = { .memory_size = VM_MEM_SIZE };
	struct sigaction sa = { .sa_handler = on_stop };
	struct kvm_mp_state runnable = { .mp_state = KVM_MP_STATE_RUNNABLE };
	struct vm *vm = calloc(1, sizeof(*vm));
	int kvm, i;

	sigaction(VM_STOP_SIGNAL, &sa, NULL);
	kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (kvm < 0)
		die("cannot open /dev/kvm");
	vm->nr = nr_vcpus;
	vm->run_size = ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0);
	vm->fd = ioctl(kvm, KVM_CREATE_VM, 0);
	if (vm->fd < 0)
		die("cannot create a VM");
	close(kvm);
	if (ioctl(vm->fd, KVM_SET_TSS_ADDR, 0xfffbd000) ||
	    ioctl(vm->fd, KVM_CREATE_IRQCHIP, 0))
		die("cannot create the interrupt controllers");

	vm->mem = mmap(NULL, VM_MEM_SIZE, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (vm->mem == MAP_FAILED)
		die("cannot allocate the guest's memory");
	slot.userspace_addr = (uintptr_t)vm->mem;
	if (ioctl(vm->fd, KVM_SET_USER_MEMORY_REGION, &slot))
		die("cannot give the guest its memory");
	memcpy(vm->mem + VM_CODE, guest_loop, guest_end - guest_loop);

	for (i = 0; i < nr_vcpus; i++) {
		vcpu_create(vm, i);
		if (ioctl(vm->vcpus[i].fd, KVM_SET_MP_STATE, &runnable))
			die("cannot make vCPU %d runnable", i);
	}

	return vm;
}

static struct kvm_segment flat_segment(int type, int dpl)
{
	return (struct kvm_segment) {
		.limit = 0xffffffff,
		.selector = (type & 8 ? 8 : 16) | dpl,
		.type = type,
		.present = 1,
		.dpl = dpl,
		.db = 1,
		.s = 1,
		.g = 1,
	};
}

static uint32_t code_addr(enum guest_code code)
{
	const char *start[] = {
		[GUEST_LOOP] = guest_loop,
		[GUEST_HALT] = guest_halt,
		[GUEST_PAUSE] = guest_pause,
		[GUEST_PAUSE_N] = guest_pause_n,
		[GUEST_LOCKED_ADD] = guest_locked_add,
	};

	return VM_CODE + (start[code] - guest_loop);
}

/* Protected mode without paging; user mode with the right to end by OUT. */
void vm_set_regs(struct vm *vm, int index, bool user, struct kvm_regs *regs)
{
	struct vcpu *v = &vm->vcpus[index];
	struct kvm_sregs sregs;

	regs->rflags |= 2 | (user ? 0x3000 : 0);
	if (ioctl(v->fd, KVM_GET_SREGS, &sregs))
		die("cannot read the registers of vCPU %d", index);
	sregs.cr0 |= 1;
	sregs.cs = flat_segment(11, user ? 3 : 0);
	sregs.ss = flat_segment(3, user ? 3 : 0);
	sregs.ds = sregs.es = sregs.fs = sregs.gs = sregs.ss;
	if (ioctl(v->fd, KVM_SET_SREGS, &sregs) ||
	    ioctl(v->fd, KVM_SET_REGS, regs))
		die("cannot set the registers of vCPU %d", index);
}

void vm_set_code(struct vm *vm, int index, enum guest_code code, bool user,
		 uint32_t arg)
{
	struct kvm_regs regs = {
		.rip = code_addr(code),
		.rflags = 0x200,
		.rbx = VM_FLAGS + 4 * index,
		.rcx = arg,
		.rsi = VM_LOCK,
		.rdi = VM_COUNTER,
	};

	vm_set_regs(vm, index, user, &regs);
}

/* Returns when the code ended, or vm_destroy() says stop. */
static void vcpu_run(struct vcpu *v)
{
	for (;;) {
		if (ioctl(v->fd, KVM_RUN, 0) < 0) {
			if (errno == EINTR && v->run->immediate_exit)
				return;
			if (errno == EINTR || errno == EAGAIN)
				continue;
			die("vCPU %d does not run", v->index);
		}
		if (v->run->exit_reason == KVM_EXIT_IO &&
		    v->run->io.port == VM_END_PORT)
			return;
		if (v->run->exit_reason == KVM_EXIT_INTR)
			continue;
		errno = 0;
		die("vCPU %d ended with exit reason %u", v->index,
		    v->run->exit_reason);
	}
}

static void *vcpu_thread(void *arg)
{
	struct vcpu *v = arg;

	v->tid = syscall(SYS_gettid);
	__atomic_store_n(&v->started, true, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&v->vm->released, __ATOMIC_ACQUIRE))
		usleep(1000);
	vcpu_run(v);
	return NULL;
}

void pin_thread(pthread_t thread, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	errno = pthread_setaffinity_np(thread, sizeof(set), &set);
	if (errno)
		die("cannot move a thread to CPU %d", cpu);
}

void vm_start(struct vm *vm, int index, int cpu)
{
	struct vcpu *v = &vm->vcpus[index];
	pthread_attr_t attr;
	cpu_set_t set;

	pthread_attr_init(&attr);
	if (cpu >= 0) {
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
	}
	errno = pthread_create(&v->thread, &attr, vcpu_thread, v);
	if (errno)
		die("cannot start vCPU %d", index);
	while (!__atomic_load_n(&v->started, __ATOMIC_ACQUIRE))
		usleep(100);
}

void vm_release(struct vm *vm)
{
	__atomic_store_n(&vm->released, true, __ATOMIC_RELEASE);
}

void vm_run_here(struct vm *vm, int index)
{
	vm->vcpus[index].tid = syscall(SYS_gettid);
	vcpu_run(&vm->vcpus[index]);
}

uint32_t vm_read(const struct vm *vm, uint32_t addr)
{
	return __atomic_load_n((uint32_t *)(vm->mem + addr), __ATOMIC_ACQUIRE);
}

void vm_wait_flags(struct vm *vm, int first)
{
	int i;

	for (i = first; i < vm->nr; i++) {
		while (!vm_read(vm, VM_FLAGS + 4 * i))
			usleep(1000);
	}
}

void vm_join(struct vm *vm, int index)
{
	if (!vm->vcpus[index].started)
		return;
	pthread_join(vm->vcpus[index].thread, NULL);
	vm->vcpus[index].started = false;
}

void vm_interrupt(struct vm *vm, int index, uint8_t vector)
{
	/* A physical destination: APIC ids are vCPU ids here. */
	struct kvm_msi msi = {
		.address_lo = 0xfee00000 | index << 12,
		.data = vector,
	};

	if (ioctl(vm->fd, KVM_SIGNAL_MSI, &msi) != 1)
		die("vCPU %d did not get the interrupt", index);
}

void vm_stop(struct vm *vm)
{
	int i;

	for (i = 0; i < vm->nr; i++)
		vm->vcpus[i].run->immediate_exit = 1;
	for (i = 0; i < vm->nr; i++) {
		if (vm->vcpus[i].started)
			pthread_kill(vm->vcpus[i].thread, VM_STOP_SIGNAL);
	}
}

void vm_destroy(struct vm *vm)
{
	int i;

	vm_stop(vm);
	vm_release(vm);
	for (i = 0; i < vm->nr; i++) {
		vm_join(vm, i);
		munmap(vm->vcpus[i].run, vm->run_size);
		close(vm->vcpus[i].fd);
	}
	close(vm->fd);
	munmap(vm->mem, VM_MEM_SIZE);
	free(vm);
}

static void *hog_thread(void *arg)
{
	struct hog *hog = arg;
	struct sched_param prio = { .sched_priority = 50 };

	pin_thread(pthread_self(), hog->cpu);
	if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &prio))
		die("cannot become a real-time thread");
	while (!hog->stop) {
		hog->running = 1;
		while (!hog->release)
			;
		hog->running = 0;
		while (sem_wait(&hog->wanted))
			;
	}
	return NULL;
}

static void write_file(const char *path, const char *text)
{
	size_t len = strlen(text);
	char now[16] = "";
	int fd;

	/* Writing what is there already may be refused. */
	fd = open(path, O_RDONLY);
	if (fd < 0 || read(fd, now, sizeof(now) - 1) < 0)
		die("cannot read %s", path);
	close(fd);
	if (!strncmp(now, text, len) && now[len] == '\n')
		return;

	fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, text, len) < 0)
		die("cannot write %s", path);
	close(fd);
}

/* Two safety nets would let the others run after all. */
static void remove_safety_nets(int cpu)
{
	static bool removed;
	char path[128];

	if (removed)
		return;
	write_file("/proc/sys/kernel/sched_rt_runtime_us", "-1");
	snprintf(path, sizeof(path),
		 "/sys/kernel/debug/sched/fair_server/cpu%d/runtime", cpu);
	write_file(path, "0");
	removed = true;
}

void hog_start(struct hog *hog, int cpu)
{
	remove_safety_nets(cpu);
	*hog = (struct hog) { .cpu = cpu };
	sem_init(&hog->wanted, 0, 0);
	errno = pthread_create(&hog->thread, NULL, hog_thread, hog);
	if (errno)
		die("cannot start the hog");
	while (!hog->running)
		usleep(100);
}

void hog_release(struct hog *hog)
{
	hog->release = 1;
	while (hog->running)
		;
}

void hog_take(struct hog *hog)
{
	hog->release = 0;
	sem_post(&hog->wanted);
	while (!hog->running)
		;
}

void hog_stop(struct hog *hog)
{
	hog->stop = 1;
	hog->release = 1;
	sem_post(&hog->wanted);
	pthread_join(hog->thread, NULL);
}
