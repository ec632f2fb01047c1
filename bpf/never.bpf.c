// SPDX-License-Identifier: GPL-2.0
/*
 * never: refuses every candidate.
 *
 * What it does: a spinner goes on spinning until its own time is up. This is the
 * bad end of the scale, and shows what directed yield is worth on a host.
 *
 * When to use it: as a control in an experiment. KVM detaches it after
 * kvm.yield_refusal_budget refusals in a row in which its own code would have
 * yielded (10,000 unless changed); an experiment sets the budget to 0:
 *
 *	echo 0 >/sys/module/kvm/parameters/yield_refusal_budget
 *
 * When not: ever else.
 */
#include "kvmyield.bpf.h"

KVMYIELD_DESC("control: refuses everybody, so that spinners just spin");

SEC("struct_ops/rank")
s32 BPF_PROG(never_rank, struct kvm_yield_spin *spin,
	     struct kvm_yield_candidate *cand)
{
	return KVM_YIELD_REFUSE;
}

KVMYIELD_POLICY(never, .rank = (void *)never_rank);
