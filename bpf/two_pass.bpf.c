// SPDX-License-Identifier: GPL-2.0
/*
 * two_pass: kernel mode first; user mode with an interrupt if there is no other.
 *
 * What it does: as kernel_only, and when that finds nobody it takes a vCPU in
 * user mode for which an interrupt is pending. Both passes go round in turns.
 *
 * When to use it: to compare with ipi_boost, which ranks the two together. It
 * shows whether lock holders or receivers of IPIs are what a guest waits for.
 *
 * When not: in daily use. Somebody in kernel mode is nearly always waiting in a
 * busy guest, and then the receivers in user mode are as good as refused.
 *
 * From: a variant of the patch of 2021 that became today's built-in choice. In
 * the measurements of that time it gained less than ranking both together.
 */
#include "kvmyield.bpf.h"

KVMYIELD_DESC("kernel mode first, user mode with a pending interrupt if none is found");

/* Below KVM_YIELD_TAKE, so that it is tried when all of the first pass were. */
#define SECOND_PASS	0

SEC("struct_ops/rank")
s32 BPF_PROG(two_pass_rank, struct kvm_yield_spin *spin,
	     struct kvm_yield_candidate *cand)
{
	s32 score = KVM_YIELD_TAKE;

	if (spin->kernel_only && !kvmyield_kernel_or_woken(cand)) {
		if (!(cand->facts & KVM_YIELD_INTERRUPT))
			return KVM_YIELD_REFUSE;
		score = SECOND_PASS;
	}

	return kvmyield_eligible(cand) ? score : KVM_YIELD_REFUSE;
}

KVMYIELD_POLICY(two_pass, .rank = (void *)two_pass_rank);
