// SPDX-License-Identifier: GPL-2.0
/*
 * ipi_pair: first those to whom this spinner has sent an IPI.
 *
 * What it does: a vCPU that has an IPI of this very spinner pending comes first.
 * If there is none, as ipi_boost: kernel mode, woken, or any pending interrupt,
 * in turns. One that spins itself is passed over every other time.
 *
 * When to use it: for guests that send many IPIs and wait for the answers (TLB
 * flushes, membarrier, stop_machine), on hosts where KVM delivers IPIs itself.
 *
 * When not: where hardware delivers them (`kvmyield features` says so). Senders
 * are not known then, and it does what ipi_boost does. An IPI that nobody waits
 * for, such as Linux's to reschedule, is taken for one that somebody does.
 *
 * From: the IPI-aware directed yield of "sched/kvm: Semantics-aware vCPU
 * scheduling for oversubscribed KVM" (Wanpeng Li, third version June 2026). That
 * one keeps sender and receiver of the last IPI for a short time; here a pair
 * counts while the interrupt is pending.
 */
#include "kvmyield.bpf.h"

KVMYIELD_DESC("first whom this spinner has sent an IPI, then as ipi_boost");

SEC("struct_ops/rank")
s32 BPF_PROG(ipi_pair_rank, struct kvm_yield_spin *spin,
	     struct kvm_yield_candidate *cand)
{
	s32 score = 0;

	if (cand->facts & KVM_YIELD_IPI_FROM_SPINNER)
		score = KVM_YIELD_TAKE;
	else if (!kvmyield_useful(spin, cand))
		return KVM_YIELD_REFUSE;

	return kvmyield_eligible(cand) ? score : KVM_YIELD_REFUSE;
}

KVMYIELD_POLICY(ipi_pair, .rank = (void *)ipi_pair_rank);
