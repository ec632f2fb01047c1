// SPDX-License-Identifier: GPL-2.0
/*
 * A policy that compares what it is told with what the guest does, which it knows
 * from the guest's instruction pointer: tests/guest-kmod/hint_states.c runs a loop
 * of its own in each state. It yields to everybody alike.
 *
 * The instruction pointer is in kvm_vcpu.arch.regs as long as the vCPU does not
 * run; on SVM it is always up to date there.
 *
 * Offsets are those of the kvm.ko that is built here. CO-RE would look for them in
 * the kernel's own copy of struct kvm_vcpu, which has nothing of ours.
 */
#define BPF_NO_PRESERVE_ACCESS_INDEX
#include "kvmyield_preempt.bpf.h"

KVMYIELD_DESC("test: is the hint what the guest does?");

#define RIP		16
#define MAX_VCPUS	8
#define EXACTLY		KVMYIELD_NOT_PREEMPTIBLE
#define RECORDED	(KVM_YIELD_HINT_VALID | KVM_YIELD_IRQS_OFF)

/* Where the loop of each state begins, and where it ends. */
KVMYIELD_PARAM(u64, b0, 0); KVMYIELD_PARAM(u64, e0, 0);
KVMYIELD_PARAM(u64, b1, 0); KVMYIELD_PARAM(u64, e1, 0);
KVMYIELD_PARAM(u64, b2, 0); KVMYIELD_PARAM(u64, e2, 0);
KVMYIELD_PARAM(u64, b3, 0); KVMYIELD_PARAM(u64, e3, 0);
KVMYIELD_PARAM(u64, b4, 0); KVMYIELD_PARAM(u64, e4, 0);
KVMYIELD_PARAM(u64, b5, 0); KVMYIELD_PARAM(u64, e5, 0);
KVMYIELD_PARAM(u64, b6, 0); KVMYIELD_PARAM(u64, e6, 0);

struct seen {
	u64 right;
	u64 wrong;
	u64 no_hint;
	u64 wrong_irqs;
	u64 last_wrong;
};

/*
 * unstable: the vCPU ran again since KVM put together what is told of it, so that
 * its instruction pointer may belong to another moment: its record is another now.
 */
struct seen states[7];
u64 elsewhere, unstable, looks;
static u64 last_out[MAX_VCPUS];

static void judge(struct seen *s, const struct kvm_yield_candidate *cand,
		  u32 mask, u32 want, bool irqs_off)
{
	if (!kvmyield_has(cand, KVM_YIELD_HINT_VALID)) {
		s->no_hint++;
	} else if ((cand->hint & mask) == want) {
		s->right++;
	} else {
		s->wrong++;
		s->last_wrong = cand->hint;
	}
	if (kvmyield_has(cand, KVM_YIELD_IRQS_OFF) != irqs_off)
		s->wrong_irqs++;
}

SEC("struct_ops/rank")
s32 BPF_PROG(hinted_rank, struct kvm_yield_spin *spin,
	     struct kvm_yield_candidate *cand)
{
	struct kvm_vcpu *vcpu = cand->vcpu;
	u64 out = vcpu->yield.out_since;
	u64 rip = vcpu->arch.regs[RIP];
	u32 i = cand->index;

	/* Each loss of the CPU is one observation. */
	if (!kvmyield_has(cand, KVM_YIELD_PREEMPTED | KVM_YIELD_KERNEL) ||
	    i >= MAX_VCPUS || last_out[i] == out)
		return 0;
	if (!*(volatile bool *)&vcpu->ready ||
	    *(volatile u64 *)&vcpu->yield.out_since != out ||
	    (vcpu->yield.out_facts ^ cand->facts) & RECORDED ||
	    (kvmyield_has(cand, KVM_YIELD_HINT_VALID) && vcpu->yield.hint != cand->hint)) {
		unstable++;
		return 0;
	}
	last_out[i] = out;
	looks++;

	if (rip >= b0 && rip < e0)		/* in no critical section */
		judge(&states[0], cand, EXACTLY, 0, false);
	else if (rip >= b1 && rip < e1)		/* with a spinlock */
		judge(&states[1], cand, EXACTLY, 1, false);
	else if (rip >= b2 && rip < e2)		/* with two */
		judge(&states[2], cand, EXACTLY, 2, false);
	else if (rip >= b3 && rip < e3)		/* bottom halves disabled */
		judge(&states[3], cand, EXACTLY, 0x200, false);
	else if (rip >= b4 && rip < e4)		/* interrupts off: not counted */
		judge(&states[4], cand, EXACTLY, 0, true);
	else if (rip >= b5 && rip < e5)		/* an interrupt's handler */
		judge(&states[5], cand, KVMYIELD_HARDIRQ, 0x10000, true);
	else if (rip >= b6 && rip < e6)		/* a softirq's */
		judge(&states[6], cand, KVMYIELD_SOFTIRQ | KVMYIELD_HARDIRQ, 0x100, false);
	else
		elsewhere++;

	return 0;
}

KVMYIELD_POLICY(hinted, .rank = (void *)hinted_rank);
