// SPDX-License-Identifier: GPL-2.0
/*
 * MSR_KVM_PREEMPT_COUNT as user space and a guest see it, and what becomes of the
 * hint: a policy says what it was told of one vCPU. The guest is 32-bit code
 * without paging. TAP.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "facts.h"
#include "facts.skel.h"
#include "states.h"

#define MSR_POLL_CONTROL	0x4b564d05
#define FEATURES_LEAF		0x40000001
#define FEATURE_BIT		(1u << 18)
#define FACT_HINT_VALID		(1u << 7)

#define SUBJECT		FIRST_SUBJECT
#define WORD		0xc100		/* in the guest's memory, and its own */
#define PAGE		0x1000
#define SLOT_GPA	0x40000		/* where another slot may be */
#define MAX_CPUID	128
#define LOOKS		20

static struct facts_bpf *policy;
static struct hog hog;
static int tests, failed;

static void ok(bool good, const char *what)
{
	failed += !good;
	printf("%sok %d - %s\n", good ? "" : "not ", ++tests, what);
}

static int vcpu_fd(struct subjects *s)
{
	return s->vm->vcpus[SUBJECT].fd;
}

struct one_msr {
	struct kvm_msrs		msrs;
	struct kvm_msr_entry	entry;
};

static bool set_msr(struct subjects *s, uint32_t index, uint64_t value)
{
	struct one_msr one = {
		.msrs.nmsrs = 1,
		.entry.index = index,
		.entry.data = value,
	};

	return ioctl(vcpu_fd(s), KVM_SET_MSRS, &one) == 1;
}

static bool set(struct subjects *s, uint64_t value)
{
	return set_msr(s, MSR_KVM_PREEMPT_COUNT, value);
}

/* What is read; all bits set if it cannot be. */
static uint64_t get(struct subjects *s)
{
	struct one_msr one = {
		.msrs.nmsrs = 1,
		.entry.index = MSR_KVM_PREEMPT_COUNT,
	};

	return ioctl(vcpu_fd(s), KVM_GET_MSRS, &one) == 1 ? one.entry.data : ~0ULL;
}

static struct subjects *new_vm(void)
{
	struct subjects *s = subjects_create(1, &hog);

	s->keep_msr = true;
	s->of[0].state = IN_KERNEL;
	s->of[0].word = WORD;
	return s;
}

/* Let the vCPU lose its CPU, and hear what is said of it. */
static struct told told(struct subjects *s, uint32_t word)
{
	struct told t;

	s->of[0].hint = word;
	subjects_freeze(&s, 1);
	memset(policy->bss->told, 0, sizeof(policy->bss->told));
	subjects_look(s, false);
	t = policy->bss->told[SUBJECT];
	subjects_thaw(&s, 1);
	if (t.looks != 1)
		die("the vCPU was looked at %u times", t.looks);
	return t;
}

static bool hint_is(struct subjects *s, uint32_t word)
{
	struct told t = told(s, random());

	return t.facts & FACT_HINT_VALID && t.hint == word;
}

static bool hint_follows(struct subjects *s)
{
	uint32_t word = random();
	struct told t = told(s, word);

	return t.facts & FACT_HINT_VALID && t.hint == word;
}

static bool no_hint(struct subjects *s)
{
	struct told t = told(s, random());

	return !(t.facts & FACT_HINT_VALID) && !t.hint;
}

static void slot(struct subjects *s, uint64_t gpa, void *mem, uint64_t size,
		 uint32_t flags)
{
	struct kvm_userspace_memory_region region = {
		.slot = 1,
		.flags = flags,
		.guest_phys_addr = gpa,
		.memory_size = size,
		.userspace_addr = (uintptr_t)mem,
	};

	if (ioctl(s->vm->fd, KVM_SET_USER_MEMORY_REGION, &region))
		die("cannot set a memory slot");
}

static uint32_t *fresh_memory(void)
{
	uint32_t *mem = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (mem == MAP_FAILED)
		die("no memory");
	return mem;
}

static bool listed(int kvm)
{
	struct kvm_msr_list *list = calloc(1, sizeof(*list) + 4 * 1024);
	bool found = false;
	unsigned int i;

	list->nmsrs = 1024;
	if (ioctl(kvm, KVM_GET_MSR_INDEX_LIST, list))
		die("cannot list MSRs");
	for (i = 0; i < list->nmsrs; i++)
		found |= list->indices[i] == MSR_KVM_PREEMPT_COUNT;
	free(list);
	return found;
}

static struct kvm_cpuid2 *supported_cpuid(int kvm)
{
	struct kvm_cpuid2 *cpuid = calloc(1, sizeof(*cpuid) +
					  MAX_CPUID * sizeof(cpuid->entries[0]));

	cpuid->nent = MAX_CPUID;
	if (ioctl(kvm, KVM_GET_SUPPORTED_CPUID, cpuid))
		die("cannot read the supported CPUID");
	return cpuid;
}

static struct kvm_cpuid_entry2 *leaf(struct kvm_cpuid2 *cpuid, uint32_t function)
{
	unsigned int i;

	for (i = 0; i < cpuid->nent; i++) {
		if (cpuid->entries[i].function == function)
			return &cpuid->entries[i];
	}
	errno = 0;
	die("no CPUID leaf %#x", function);
}

static void test_offer(int kvm)
{
	struct kvm_cpuid2 *cpuid = supported_cpuid(kvm);

	ok(listed(kvm), "it is in the list of MSRs to save");
	ok(leaf(cpuid, FEATURES_LEAF)->eax & FEATURE_BIT, "CPUID offers it");
	free(cpuid);
}

static void test_values(int kvm)
{
	struct kvm_cpuid2 *cpuid = supported_cpuid(kvm);
	uint64_t end = 1ULL << (leaf(cpuid, 0x80000008)->eax & 0xff);
	const uint64_t bad[] = {
		WORD | 2, WORD | 3, end | 1, end, 1ULL << 63 | 1, ~0ULL, 2,
	};
	const uint64_t good[] = {
		WORD | 1, WORD, 1, 0, (end - 4) | 1, 0xfee00000 | 1, WORD | 5,
	};
	struct subjects *s = new_vm();
	bool host = true, guest = true, kept = true;
	unsigned int i;

	if (ioctl(vcpu_fd(s), KVM_SET_CPUID2, cpuid))
		die("cannot set CPUID");
	ok(get(s) == 0, "a new vCPU has 0");
	for (i = 0; i < sizeof(good) / sizeof(*good); i++) {
		host &= set(s, good[i]) && get(s) == good[i];
		set(s, 0);
		guest &= subjects_wrmsr(s, SUBJECT, good[i]) && get(s) == good[i];
	}
	ok(host, "user space reads what it has written");
	ok(guest, "and what the guest has");
	host = guest = true;
	set(s, WORD | 1);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		host &= !set(s, bad[i]);
		guest &= !subjects_wrmsr(s, SUBJECT, bad[i]);
		kept &= get(s) == (WORD | 1);
	}
	ok(host, "reserved bits and addresses that are too large: not set");
	ok(guest, "of the guest: #GP");
	ok(kept, "and what was there stays");
	ok(hint_follows(s), "the hint is what the guest has written there");
	ok(subjects_wrmsr(s, SUBJECT, 0) && no_hint(s), "the guest withdraws it");
	ok(subjects_wrmsr(s, SUBJECT, WORD) && no_hint(s),
	   "an address that is not enabled is no hint");
	subjects_destroy(s);
	free(cpuid);
}

/* MMIO, ROM, the last word, a hole; slots come, move and go. */
static void test_places(void)
{
	struct subjects *s = new_vm();
	uint32_t *mem = fresh_memory();

	ok(set(s, 0xfee00020 | 1) && no_hint(s), "in MMIO: no hint");
	ok(set(s, VM_MEM_SIZE | 1) && no_hint(s), "just behind memory: no hint");
	*(uint32_t *)(s->vm->mem + VM_MEM_SIZE - 4) = 0x1234;
	ok(set(s, (VM_MEM_SIZE - 4) | 1) && hint_is(s, 0x1234),
	   "the last word of memory");
	ok(!subjects_wrmsr(s, SUBJECT, VM_MEM_SIZE - 1),
	   "the last byte of memory: #GP");

	ok(set(s, (SLOT_GPA + 8) | 1) && no_hint(s), "in a hole: no hint");
	slot(s, SLOT_GPA, mem, PAGE, 0);
	ok(no_hint(s), "memory that its owner has never touched: no hint");
	mem[2] = 0x5678;
	ok(hint_is(s, 0x5678), "a slot is added and filled: a hint");
	slot(s, SLOT_GPA + PAGE, mem, PAGE, 0);
	ok(no_hint(s), "it moves away: none");
	slot(s, SLOT_GPA, mem, PAGE, 0);
	ok(hint_is(s, 0x5678), "it comes back: a hint");
	slot(s, SLOT_GPA, mem, 0, 0);
	ok(no_hint(s), "it is removed: none");
	slot(s, SLOT_GPA, mem, PAGE, KVM_MEM_READONLY);
	ok(no_hint(s), "in ROM, which no guest can write: none");
	slot(s, SLOT_GPA, mem, 0, 0);
	slot(s, SLOT_GPA, mem, PAGE, 0);
	mprotect(mem, PAGE, PROT_NONE);
	ok(no_hint(s), "its owner has no right to it: none");
	mprotect(mem, PAGE, PROT_READ | PROT_WRITE);
	ok(hint_is(s, 0x5678), "and has it again: a hint");
	subjects_destroy(s);
	munmap(mem, PAGE);
}

static uint64_t dirty_log(struct subjects *s)
{
	uint64_t bits[1] = { 0 };
	struct kvm_dirty_log log = { .slot = 1, .dirty_bitmap = bits };

	if (ioctl(s->vm->fd, KVM_GET_DIRTY_LOG, &log))
		die("cannot read the dirty log");
	return bits[0];
}

static void test_dirty_log(void)
{
	struct subjects *s = new_vm();
	uint32_t *mem = fresh_memory();
	bool clean = true, hinted = true;
	int i;

	mem[2] = 0x1111;
	slot(s, SLOT_GPA, mem, PAGE, KVM_MEM_LOG_DIRTY_PAGES);
	set(s, (SLOT_GPA + 8) | 1);
	dirty_log(s);
	for (i = 0; i < LOOKS; i++) {
		hinted &= hint_is(s, 0x1111);
		clean &= !dirty_log(s);
	}
	ok(hinted && clean, "reading the word dirties no page");
	s->of[0].word = SLOT_GPA + 8;
	ok(hint_follows(s) && dirty_log(s) == 1, "the guest's writing does");
	subjects_destroy(s);
	munmap(mem, PAGE);
}

static void test_restore(void)
{
	struct subjects *old = new_vm(), *new;
	uint64_t saved;
	bool right;

	right = subjects_wrmsr(old, SUBJECT, WORD | 1) && hint_follows(old);
	saved = get(old);
	new = new_vm();
	memcpy(new->vm->mem, old->vm->mem, VM_MEM_SIZE);
	subjects_destroy(old);
	ok(right && no_hint(new), "a new VM has no hint");
	ok(set(new, saved) && hint_follows(new),
	   "restored in a new VM, the hint is right again");
	subjects_destroy(new);
}

static void enforce(struct subjects *s, struct kvm_cpuid2 *cpuid, bool with)
{
	struct kvm_enable_cap cap = {
		.cap = KVM_CAP_ENFORCE_PV_FEATURE_CPUID,
		.args[0] = 1,
	};
	struct kvm_cpuid_entry2 *features = leaf(cpuid, FEATURES_LEAF);

	features->eax = with ? FEATURE_BIT : 0;
	if (ioctl(vcpu_fd(s), KVM_SET_CPUID2, cpuid) ||
	    ioctl(vcpu_fd(s), KVM_ENABLE_CAP, &cap))
		die("cannot enforce CPUID");
}

static void test_cpuid(int kvm)
{
	struct kvm_cpuid2 *cpuid = supported_cpuid(kvm);
	struct subjects *s = new_vm();

	enforce(s, cpuid, true);
	ok(subjects_wrmsr(s, SUBJECT, WORD | 1) && hint_follows(s),
	   "enforced, with the bit: the guest may");
	ok(set(s, 0) && set(s, WORD | 1) && get(s) == (WORD | 1), "so may user space");
	subjects_destroy(s);

	s = new_vm();
	enforce(s, cpuid, false);
	ok(!subjects_wrmsr(s, SUBJECT, WORD | 1) && !subjects_wrmsr(s, SUBJECT, 0),
	   "enforced, without the bit: #GP");
	ok(!set(s, WORD | 1) && set(s, 0) && get(s) == 0,
	   "user space may write and read 0 only");
	ok(!set_msr(s, MSR_POLL_CONTROL, 1) && set_msr(s, MSR_POLL_CONTROL, 0),
	   "as it may of the other paravirtual MSRs");
	ok(no_hint(s), "and there is no hint");
	subjects_destroy(s);
	free(cpuid);
}

static void test_init(void)
{
	struct subjects *s = new_vm();
	struct kvm_mp_state state;
	bool before;

	set(s, WORD | 1);
	before = hint_follows(s) && get(s) == (WORD | 1);
	subjects_icr(s, SUBJECT, 0x4500);
	/* Reading its state makes it take the INIT. */
	if (ioctl(vcpu_fd(s), KVM_GET_MP_STATE, &state))
		die("cannot read the state");
	ok(before && state.mp_state == KVM_MP_STATE_INIT_RECEIVED && get(s) == 0,
	   "INIT from another vCPU disables it");
	subjects_destroy(s);
}

int main(void)
{
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);

	policy = facts_bpf__open_and_load();
	if (kvm < 0 || !policy || facts_bpf__attach(policy))
		die("cannot attach the policy that listens");
	setvbuf(stdout, NULL, _IOLBF, 0);
	srandom(1);
	pin_thread(pthread_self(), 0);
	hog_start(&hog, 1);
	hog_release(&hog);
	test_offer(kvm);
	test_values(kvm);
	test_places();
	test_dirty_log();
	test_restore();
	test_cpuid(kvm);
	test_init();
	hog_stop(&hog);
	facts_bpf__destroy(policy);
	printf("1..%d\n", tests);
	return failed ? 1 : 0;
}
