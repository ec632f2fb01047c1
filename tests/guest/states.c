// SPDX-License-Identifier: GPL-2.0
/* vCPUs that are put into a state and lose their CPU in it: how, for each state. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "states.h"

#define CODE		0x2000
#define GDT		0x3000
#define IDT		0x3800
#define HINTS		0xc000		/* a word a vCPU */
#define TAKEN		0xd000		/* interrupts taken, a word a vCPU */
#define STACKS		0xf000
#define STACK_SIZE	0x100

#define HC_KICK_CPU		5
#define VECTOR			0x41
#define OTHER_VECTOR		0x52
#define PATIENCE_NS		20000000000ULL

/*
 * ebx: where to say how far it is; edx: the hint, edi: its word; esi: how many
 * interrupts it has taken.
 */
asm(".pushsection .rodata\n"
    ".code32\n"
    "states_begin:\n"
    "states_handler:\n"
    "	incl	(%esi)\n"
    "	movl	$0, 0xfee000b0\n"
    "	iret\n"
    "states_stay:\n"
    "	movl	%edx, (%edi)\n"
    "	movl	$1, (%ebx)\n"
    "1:	jmp	1b\n"
    "states_cli:\n"
    "	movl	%edx, (%edi)\n"
    "	cli\n"
    "	movl	$1, (%ebx)\n"
    "1:	jmp	1b\n"
    "states_cli_sti:\n"
    "	cli\n"
    "	movl	%edx, (%edi)\n"
    "	sti\n"
    "	movl	$1, (%ebx)\n"
    "1:	jmp	1b\n"
    "states_take:\n"
    "	movl	%edx, (%edi)\n"
    "	movl	(%esi), %eax\n"
    "	sti\n"
    "	movl	$1, (%ebx)\n"
    "1:	cmpl	%eax, (%esi)\n"
    "	je	1b\n"
    "	movl	$2, (%ebx)\n"
    "2:	jmp	2b\n"
    "states_halt:\n"
    "	movl	%edx, (%edi)\n"
    "	sti\n"
    "	movl	$1, (%ebx)\n"
    "	hlt\n"
    "	movl	$2, (%ebx)\n"
    "1:	jmp	1b\n"
    /* What is pending is taken at the sti, and a kick by the hlt. */
    "states_clean:\n"
    "	sti\n"
    "	nop\n"
    "	out	%al, $0x10\n"
    "states_clean_kick:\n"
    "	sti\n"
    "	hlt\n"
    "	out	%al, $0x10\n"
    "states_send:\n"
    "	movl	%edx, 0xfee00310\n"
    "	movl	%ecx, 0xfee00300\n"
    "	out	%al, $0x10\n"
    "states_kick:\n"
    "	vmmcall\n"
    "	out	%al, $0x10\n"
    "states_wrmsr:\n"
    "	wrmsr\n"
    "	movl	$1, (%ebx)\n"
    "	out	%al, $0x10\n"
    "states_gp:\n"
    "	movl	$2, (%ebx)\n"
    "	out	%al, $0x10\n"
    "states_end:\n"
    ".code64\n"
    ".popsection\n");

extern const char states_begin[], states_handler[], states_stay[], states_cli[];
extern const char states_cli_sti[], states_take[], states_halt[], states_clean[];
extern const char states_clean_kick[], states_send[], states_kick[], states_end[];
extern const char states_wrmsr[], states_gp[];

static uint32_t addr_of(const char *code)
{
	return CODE + (code - states_begin);
}

unsigned long long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void check_patience(unsigned long long since, const struct subject *sub,
			   const char *what)
{
	errno = 0;
	if (now_ns() - since > PATIENCE_NS)
		die("vCPU %d in state %d: %s did not come about",
		    sub->vcpu->index, sub->state, what);
}

static uint64_t gate_of(const char *code)
{
	return 0x8e0000080000ULL | addr_of(code);	/* 8: gdt[1] */
}

/* A handler for every vector, and the two segments that IRET needs. */
static void write_tables(struct vm *vm)
{
	uint64_t *gdt = (uint64_t *)(vm->mem + GDT);
	uint64_t *idt = (uint64_t *)(vm->mem + IDT);
	int i;

	gdt[1] = 0x00cf9b000000ffffULL;
	gdt[2] = 0x00cf93000000ffffULL;
	for (i = 0; i < 256; i++)
		idt[i] = gate_of(states_handler);
	idt[13] = gate_of(states_gp);
}

static void set_tables(struct vm *vm, int index)
{
	struct kvm_sregs sregs;

	if (ioctl(vm->vcpus[index].fd, KVM_GET_SREGS, &sregs))
		die("cannot read the registers of vCPU %d", index);
	sregs.gdt = (struct kvm_dtable) { .base = GDT, .limit = 23 };
	sregs.idt = (struct kvm_dtable) { .base = IDT, .limit = 0x7ff };
	if (ioctl(vm->vcpus[index].fd, KVM_SET_SREGS, &sregs))
		die("cannot set the tables of vCPU %d", index);
}

static void set_start(struct subjects *s, int index, const char *code, bool user,
		      struct kvm_regs regs)
{
	regs.rip = addr_of(code);
	regs.rsp = STACKS + STACK_SIZE * (index + 1);
	regs.rsi = TAKEN + 4 * index;
	vm_set_regs(s->vm, index, user, &regs);
}

/* Run one vCPU in this thread to the end of its code. */
static void run_here(struct subjects *s, int index, const char *code,
		     struct kvm_regs regs)
{
	set_start(s, index, code, false, regs);
	vm_run_here(s->vm, index);
}

static void send_ipi(struct subjects *s, int from, struct subject *to,
		     uint8_t vector)
{
	to->sent_ns = now_ns();
	run_here(s, from, states_send, (struct kvm_regs) {
		.rdx = to->vcpu->index << 24,
		.rcx = 0x4000 | vector,
	});
}

static void kick(struct subjects *s, struct subject *to)
{
	to->sent_ns = now_ns();
	run_here(s, 0, states_kick, (struct kvm_regs) {
		.rax = HC_KICK_CPU,
		.rcx = to->vcpu->index,
	});
}

static void interrupt(struct subjects *s, struct subject *to)
{
	to->sent_ns = now_ns();
	vm_interrupt(s->vm, to->vcpu->index, VECTOR);
}

static void *subject_thread(void *arg)
{
	struct subject *sub = arg;
	struct vcpu *v = sub->vcpu;

	sub->tid = syscall(SYS_gettid);
	for (;;) {
		while (sem_wait(&sub->go))
			;
		if (v->vm->released)
			return NULL;
		errno = 0;
		while (!ioctl(v->fd, KVM_RUN, 0) &&
		       v->run->exit_reason == KVM_EXIT_INTR)
			;
		if (errno != EINTR && v->run->exit_reason != KVM_EXIT_IO)
			die("vCPU %d ended with exit reason %u", v->index,
			    v->run->exit_reason);
		__atomic_store_n(&sub->out, true, __ATOMIC_RELEASE);
	}
}

static void set_priority(struct subject *sub, int priority)
{
	struct sched_param prio = { .sched_priority = priority };

	errno = pthread_setschedparam(sub->vcpu->thread, SCHED_FIFO, &prio);
	if (errno)
		die("cannot give vCPU %d priority %d", sub->vcpu->index, priority);
}

struct subjects *subjects_create(int nr, struct hog *hog)
{
	struct subjects *s = calloc(1, sizeof(*s));
	pthread_attr_t attr;
	cpu_set_t set;
	int i;

	s->vm = vm_create(FIRST_SUBJECT + nr);
	s->nr = nr;
	s->hog = hog;
	memcpy(s->vm->mem + CODE, states_begin, states_end - states_begin);
	write_tables(s->vm);
	CPU_ZERO(&set);
	CPU_SET(1, &set);
	pthread_attr_init(&attr);
	pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
	for (i = 0; i < s->vm->nr; i++)
		set_tables(s->vm, i);
	for (i = 0; i < nr; i++) {
		struct subject *sub = &s->of[i];

		sub->vcpu = &s->vm->vcpus[FIRST_SUBJECT + i];
		sem_init(&sub->go, 0, 0);
		errno = pthread_create(&sub->vcpu->thread, &attr, subject_thread,
				       sub);
		if (errno)
			die("cannot start vCPU %d", sub->vcpu->index);
	}
	return s;
}

static const char *code_for(enum subject_state state)
{
	switch (state) {
	case IN_KERNEL:
		return states_cli_sti;
	case KERNEL_IRQS_OFF:
	case USER_IRQS_OFF:
	case IRQ_BLOCKED:
		return states_cli;
	case IRQ_TAKEN:
	case IPI_TAKEN:
	case IPI_TAKEN_IRQ:
		return states_take;
	case KICK_TAKEN:
	case WOKEN_BY_IRQ:
	case WOKEN_BY_IPI:
	case WOKEN_BY_KICK:
	case WOKE_AND_RAN:
	case HALTED:
		return states_halt;
	default:
		return states_stay;
	}
}

static bool in_user_mode(enum subject_state state)
{
	return state == IN_USER || state == USER_IRQS_OFF ||
	       state == USER_IRQ_PENDING;
}

static void set_hint(struct subjects *s, struct subject *sub)
{
	uint64_t word = HINTS + 4 * sub->vcpu->index;
	struct {
		struct kvm_msrs msrs;
		struct kvm_msr_entry entry;
	} one = {
		.msrs.nmsrs = 1,
		.entry.index = MSR_KVM_PREEMPT_COUNT,
		.entry.data = sub->hinted ? word | 1 : 0,
	};

	if (ioctl(sub->vcpu->fd, KVM_SET_MSRS, &one) != 1)
		die("cannot tell where vCPU %d has its hint", sub->vcpu->index);
}

/* Wait until it has come so far. */
static void wait_stage(struct subjects *s, struct subject *sub, uint32_t stage)
{
	unsigned long long since = now_ns();

	while (vm_read(s->vm, VM_FLAGS + 4 * sub->vcpu->index) != stage)
		check_patience(since, sub, "its stage");
}

/* In its halt, and its thread asleep. */
static void wait_asleep(struct subject *sub)
{
	unsigned long long since = now_ns();
	char path[64], line[256], *state;
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", sub->tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	do {
		check_patience(since, sub, "sleep");
		len = pread(fd, line, sizeof(line) - 1, 0);
		if (len <= 0)
			die("cannot read %s", path);
		line[len] = 0;
		state = strrchr(line, ')');
	} while (!state || state[2] != 'S');
	close(fd);
}

/* What has to happen to it while it runs. */
static void lead_on(struct subjects *s, struct subject *sub)
{
	wait_stage(s, sub, 1);
	if (code_for(sub->state) == states_halt)
		wait_asleep(sub);

	switch (sub->state) {
	case IRQ_BLOCKED:
		interrupt(s, sub);
		return;
	case IRQ_TAKEN:
	case WOKE_AND_RAN:
		interrupt(s, sub);
		break;
	case IPI_TAKEN:
	case IPI_TAKEN_IRQ:
		send_ipi(s, 0, sub, VECTOR);
		break;
	case KICK_TAKEN:
		kick(s, sub);
		break;
	default:
		return;
	}
	wait_stage(s, sub, 2);
}

/* It takes the CPU from whoever had it, and has it until the next one comes. */
static void let_run(struct subjects *s, struct subject *sub)
{
	bool user = in_user_mode(sub->state);
	int i = sub->vcpu->index;

	set_start(s, i, code_for(sub->state), user, (struct kvm_regs) {
		.rflags = sub->state == KERNEL_IRQS_OFF ? 0 : 0x200,
		.rbx = VM_FLAGS + 4 * i,
		.rdx = sub->hint,
		.rdi = sub->word ? sub->word : (uint32_t)HINTS + 4 * i,
	});
	if (!s->keep_msr)
		set_hint(s, sub);
	*(uint32_t *)(s->vm->mem + VM_FLAGS + 4 * i) = 0;
	set_priority(sub, 2);
	sub->posted_ns = sub->sent_ns = now_ns();
	sub->out = false;
	sem_post(&sub->go);
	lead_on(s, sub);
	set_priority(sub, 1);
}

/* What has to happen to it when it has lost the CPU. */
static void finish_state(struct subjects *s, struct subject *sub)
{
	switch (sub->state) {
	case IRQ_PENDING:
	case USER_IRQ_PENDING:
	case IPI_TAKEN_IRQ:
	case WOKEN_BY_IRQ:
		interrupt(s, sub);
		return;
	case IPI_MINE:
	case WOKEN_BY_IPI:
		send_ipi(s, 0, sub, VECTOR);
		return;
	case IPI_BOTH:
		send_ipi(s, 0, sub, OTHER_VECTOR);
		send_ipi(s, 1, sub, VECTOR);
		return;
	case IPI_OTHER:
		send_ipi(s, 1, sub, VECTOR);
		return;
	case KICKED:
	case WOKEN_BY_KICK:
		kick(s, sub);
		return;
	default:
		return;
	}
}

void subjects_freeze(struct subjects **s, int n)
{
	int vm, i;

	for (vm = 0; vm < n; vm++) {
		for (i = 0; i < s[vm]->nr; i++)
			let_run(s[vm], &s[vm]->of[i]);
	}
	hog_take(s[0]->hog);
	for (vm = 0; vm < n; vm++) {
		s[vm]->frozen_ns = now_ns();
		for (i = 0; i < s[vm]->nr; i++) {
			finish_state(s[vm], &s[vm]->of[i]);
			s[vm]->of[i].sent_done_ns = now_ns();
		}
	}
}

void subjects_look(struct subjects *s, bool user)
{
	vm_set_code(s->vm, 0, GUEST_PAUSE_N, user, 1);
	vm_run_here(s->vm, 0);
}

bool subjects_wrmsr(struct subjects *s, int index, uint64_t value)
{
	run_here(s, index, states_wrmsr, (struct kvm_regs) {
		.rax = (uint32_t)value,
		.rdx = value >> 32,
		.rcx = MSR_KVM_PREEMPT_COUNT,
		.rbx = VM_FLAGS + 4 * index,
	});
	return vm_read(s->vm, VM_FLAGS + 4 * index) == 1;
}

void subjects_icr(struct subjects *s, int to, uint32_t low)
{
	run_here(s, 0, states_send, (struct kvm_regs) {
		.rdx = (uint32_t)to << 24,
		.rcx = low,
	});
}

static void await_out(struct subject *sub)
{
	unsigned long long since = now_ns();

	while (!__atomic_load_n(&sub->out, __ATOMIC_ACQUIRE))
		check_patience(since, sub, "its end");
}

/* In its own thread: KVM waits for a grace period when a vCPU changes its thread. */
static void run_there(struct subjects *s, struct subject *sub, const char *code)
{
	set_start(s, sub->vcpu->index, code, false, (struct kvm_regs) {});
	sub->out = false;
	sem_post(&sub->go);
	await_out(sub);
}

static void clean(struct subjects *s, struct subject *sub)
{
	struct kvm_mp_state runnable = { .mp_state = KVM_MP_STATE_RUNNABLE };

	sub->vcpu->run->immediate_exit = 0;
	if (ioctl(sub->vcpu->fd, KVM_SET_MP_STATE, &runnable))
		die("cannot make vCPU %d runnable", sub->vcpu->index);
	run_there(s, sub, states_clean);
	if (sub->state == KICKED || sub->state == WOKEN_BY_KICK) {
		/* It may have taken the kick: without one it would stay halted. */
		kick(s, sub);
		run_there(s, sub, states_clean_kick);
	}
}

static void call_out(struct subjects *s)
{
	int i;

	for (i = 0; i < s->nr; i++) {
		s->of[i].vcpu->run->immediate_exit = 1;
		pthread_kill(s->of[i].vcpu->thread, SIGUSR1);
	}
}

void subjects_thaw(struct subjects **s, int n)
{
	int vm, i;

	for (vm = 0; vm < n; vm++)
		call_out(s[vm]);
	hog_release(s[0]->hog);
	for (vm = 0; vm < n; vm++) {
		for (i = 0; i < s[vm]->nr; i++)
			await_out(&s[vm]->of[i]);
	}
	for (vm = 0; vm < n; vm++) {
		for (i = 0; i < s[vm]->nr; i++)
			clean(s[vm], &s[vm]->of[i]);
	}
}

void subjects_destroy(struct subjects *s)
{
	int i;

	vm_release(s->vm);
	for (i = 0; i < s->nr; i++) {
		sem_post(&s->of[i].go);
		pthread_join(s->of[i].vcpu->thread, NULL);
		sem_destroy(&s->of[i].go);
	}
	vm_destroy(s->vm);
	free(s);
}
