// SPDX-License-Identifier: GPL-2.0
/*
 * critical_section: first those that cannot be preempted inside the guest.
 *
 * What it does: a vCPU that lost its CPU inside a critical section by the guest's
 * hint (a spinlock held, a softirq, a hardware interrupt or an NMI at work), or
 * with interrupts off, comes first. Then one with an IPI pending; then as
 * ipi_boost: kernel mode, woken, or any other pending interrupt. In turns within
 * each. One that spins itself is passed over every other time.
 *
 * When to use it: for guests that contend for spinlocks and share their hint, or
 * for guests of any kind that hold locks with interrupts off: that is seen
 * without the guest's help.
 *
 * When not: where the guests' locks are mutexes, whose holders can be preempted.
 * The hint does not tell a spinlock's holder from those that wait for it.
 *
 * From: "KVM: X86: Boost vCPU which is in critical section" (Wanpeng Li, 2022,
 * not merged). That one filtered, this one ranks. Upstream refused to make
 * preempt_count an ABI between guest and host; here its reading is the policy's
 * own affair (include/kvmyield_preempt.bpf.h).
 */
#include "kvmyield.bpf.h"
#include "kvmyield_preempt.bpf.h"

KVMYIELD_DESC("critical sections and interrupts off, then IPIs, then as ipi_boost");

SEC("struct_ops/rank")
s32 BPF_PROG(critical_section_rank, struct kvm_yield_spin *spin,
	     struct kvm_yield_candidate *cand)
{
	s32 score = 0;

	if (cand->facts & KVM_YIELD_IRQS_OFF || kvmyield_in_critical_section(cand))
		score = KVM_YIELD_TAKE;
	else if (cand->facts & (KVM_YIELD_IPI | KVM_YIELD_IPI_FROM_SPINNER))
		score = 1;
	else if (!kvmyield_useful(spin, cand))
		return KVM_YIELD_REFUSE;

	return kvmyield_eligible(cand) ? score : KVM_YIELD_REFUSE;
}

KVMYIELD_POLICY(critical_section, .rank = (void *)critical_section_rank);
