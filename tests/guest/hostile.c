// SPDX-License-Identifier: GPL-2.0
/*
 * Guests that mean harm.
 *
 * usage: test-hostile msr WRITES	all vCPUs write random values to the MSR, while
 *					the VM's memory comes, moves and goes
 *	  test-hostile liar yes|no	a vCPU that claims a critical section for ever,
 *					or none; beside it a VM that works. Prints the
 *					milliseconds that its siblings and the other
 *					VM needed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "vm.h"

#define NR		4
#define CODE		0x2000
#define GDT		0x3000
#define IDT		0x3800
#define STACKS		0xf000
#define STACK_SIZE	0x100
#define ACCEPTED	0xc000		/* a word a vCPU each */
#define REFUSED		0xd000
#define HINT_WORD	0xe000

#define MSR_KVM_PREEMPT_COUNT	0x4b564d09
#define WORD_CRITICAL		0x80000001	/* as Linux says it */
#define WORD_NOT_CRITICAL	0x80000000
#define SLOT_GPA		0x40000
#define SLOT_SIZE		0x10000
#define MOVED_GPA		0x80000
#define LIAR_ADDS		500
#define OTHER_ADDS		200000

/*
 * ebx: accepted, esi: refused, edi: how many are left, ebp: the random state.
 * Every other value is an address below 1 MiB that KVM accepts; the others have
 * all 64 bits random.
 */
asm(".pushsection .rodata\n"
    ".code32\n"
    "hostile_begin:\n"
    "1:	call	hostile_random\n"
    "	movl	%ebp, %eax\n"
    "	xorl	%edx, %edx\n"
    "	andl	$0xffffc, %eax\n"
    "	orl	$1, %eax\n"
    "	testl	$1, %edi\n"
    "	jz	2f\n"
    "	call	hostile_random\n"
    "	movl	%ebp, %eax\n"
    "	call	hostile_random\n"
    "	movl	%ebp, %edx\n"
    "2:	movl	$0x4b564d09, %ecx\n"
    "	incl	(%ebx)\n"
    "	wrmsr\n"
    "	pause\n"
    "	decl	%edi\n"
    "	jnz	1b\n"
    "	out	%al, $0x10\n"
    "hostile_random:\n"
    "	movl	%ebp, %ecx\n"
    "	shll	$13, %ecx\n"
    "	xorl	%ecx, %ebp\n"
    "	movl	%ebp, %ecx\n"
    "	shrl	$17, %ecx\n"
    "	xorl	%ecx, %ebp\n"
    "	movl	%ebp, %ecx\n"
    "	shll	$5, %ecx\n"
    "	xorl	%ecx, %ebp\n"
    "	ret\n"
    /* #GP: skip the error code and the wrmsr, which has two bytes. */
    "hostile_gp:\n"
    "	decl	(%ebx)\n"
    "	incl	(%esi)\n"
    "	addl	$4, %esp\n"
    "	addl	$2, (%esp)\n"
    "	iret\n"
    "hostile_end:\n"
    ".code64\n"
    ".popsection\n");

extern const char hostile_begin[], hostile_gp[], hostile_end[];

static unsigned long long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ULL + ts.tv_nsec / 1000000;
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

static void load_code(struct vm *vm)
{
	uint64_t *gdt = (uint64_t *)(vm->mem + GDT);
	uint64_t *idt = (uint64_t *)(vm->mem + IDT);

	memcpy(vm->mem + CODE, hostile_begin, hostile_end - hostile_begin);
	gdt[1] = 0x00cf9b000000ffffULL;
	gdt[2] = 0x00cf93000000ffffULL;
	idt[13] = 0x8e0000080000ULL | (CODE + (hostile_gp - hostile_begin));
}

static void start_writer(struct vm *vm, int index, uint32_t writes)
{
	struct kvm_regs regs = {
		.rip = CODE,
		.rsp = STACKS + STACK_SIZE * (index + 1),
		.rbx = ACCEPTED + 4 * index,
		.rsi = REFUSED + 4 * index,
		.rdi = writes,
		.rbp = 0x9e3779b9u * (index + 1),
	};

	vm_set_regs(vm, index, false, &regs);
	set_tables(vm, index);
	vm_start(vm, index, -1);
}

static void set_slot(struct vm *vm, uint32_t slot, uint64_t gpa, void *mem,
		     uint64_t size, uint32_t flags)
{
	struct kvm_userspace_memory_region region = {
		.slot = slot,
		.flags = flags,
		.guest_phys_addr = gpa,
		.memory_size = size,
		.userspace_addr = (uintptr_t)mem,
	};

	if (ioctl(vm->fd, KVM_SET_USER_MEMORY_REGION, &region))
		die("cannot set memory slot %u", slot);
}

static void read_dirty_log(struct vm *vm)
{
	uint64_t bits[1];
	struct kvm_dirty_log log = { .slot = 0, .dirty_bitmap = bits };

	if (ioctl(vm->fd, KVM_GET_DIRTY_LOG, &log))
		die("cannot read the dirty log");
}

/* Memory comes, moves, becomes ROM and goes; the dirty log is on, and then off. */
static void stir_memory(struct vm *vm, uint8_t *mem)
{
	set_slot(vm, 0, 0, vm->mem, VM_MEM_SIZE, KVM_MEM_LOG_DIRTY_PAGES);
	set_slot(vm, 1, SLOT_GPA, mem, SLOT_SIZE, 0);
	read_dirty_log(vm);
	set_slot(vm, 1, MOVED_GPA, mem, SLOT_SIZE, 0);
	set_slot(vm, 1, MOVED_GPA, mem, 0, 0);
	set_slot(vm, 1, MOVED_GPA, mem, SLOT_SIZE, KVM_MEM_READONLY);
	read_dirty_log(vm);
	set_slot(vm, 1, MOVED_GPA, mem, 0, 0);
	set_slot(vm, 0, 0, vm->mem, VM_MEM_SIZE, 0);
}

static uint32_t sum(const struct vm *vm, uint32_t addr)
{
	uint32_t all = 0;
	int i;

	for (i = 0; i < NR; i++)
		all += vm_read(vm, addr + 4 * i);
	return all;
}

static int write_msrs(uint32_t writes)
{
	struct vm *vm = vm_create(NR);
	uint8_t *mem = mmap(NULL, SLOT_SIZE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	uint32_t accepted, refused;
	unsigned int stirred = 0;
	int i;

	if (mem == MAP_FAILED)
		die("no memory");
	load_code(vm);
	for (i = 0; i < NR; i++)
		start_writer(vm, i, writes / NR);
	vm_release(vm);
	do {
		stir_memory(vm, mem);
		stirred++;
		accepted = sum(vm, ACCEPTED);
		refused = sum(vm, REFUSED);
	} while (accepted + refused < writes / NR * NR);
	for (i = 0; i < NR; i++)
		vm_join(vm, i);
	vm_destroy(vm);
	printf("%u accepted, %u refused, memory stirred %u times\n", accepted,
	       refused, stirred);
	/* Of those with 64 random bits nearly all are too large for an address. */
	return accepted < writes / 3 || refused < writes / 3 || stirred < 3;
}

static void share_hint(struct vm *vm, int index, uint32_t word)
{
	struct {
		struct kvm_msrs msrs;
		struct kvm_msr_entry entry;
	} one = {
		.msrs.nmsrs = 1,
		.entry.index = MSR_KVM_PREEMPT_COUNT,
		.entry.data = (HINT_WORD + 4 * index) | 1,
	};

	*(uint32_t *)(vm->mem + HINT_WORD + 4 * index) = word;
	if (ioctl(vm->vcpus[index].fd, KVM_SET_MSRS, &one) != 1)
		die("cannot tell where vCPU %d has its hint", index);
}

/* vCPU 0 never lets go of its CPU; the others work under a lock, and spin. */
static void lie(bool lying)
{
	struct vm *liar = vm_create(NR), *other = vm_create(1);
	unsigned long long begun, siblings, neighbour;
	int i;

	for (i = 0; i < NR; i++) {
		vm_set_code(liar, i, i ? GUEST_LOCKED_ADD : GUEST_LOOP, false,
			    LIAR_ADDS);
		share_hint(liar, i, !i && lying ? WORD_CRITICAL : WORD_NOT_CRITICAL);
		vm_start(liar, i, -1);
	}
	vm_set_code(other, 0, GUEST_LOCKED_ADD, false, OTHER_ADDS);
	vm_start(other, 0, -1);
	begun = now_ms();
	vm_release(liar);
	vm_release(other);
	vm_join(other, 0);
	neighbour = now_ms() - begun;
	for (i = 1; i < NR; i++)
		vm_join(liar, i);
	siblings = now_ms() - begun;
	if (vm_read(liar, VM_COUNTER) != (NR - 1) * LIAR_ADDS)
		die("the siblings' sum is wrong");
	vm_destroy(liar);
	vm_destroy(other);
	printf("%llu %llu\n", siblings, neighbour);
}

int main(int argc, char **argv)
{
	int writes = argc == 3 && !strcmp(argv[1], "msr") ? atoi(argv[2]) : 0;

	if (writes >= NR)
		return write_msrs(writes);
	if (argc == 3 && !strcmp(argv[1], "liar")) {
		lie(!strcmp(argv[2], "yes"));
		return 0;
	}
	fprintf(stderr, "usage: test-hostile msr WRITES | liar yes|no\n");
	return 1;
}
