// SPDX-License-Identifier: GPL-2.0
/* A policy that tries the kernel's bounds: one score for all, or for one vCPU. */
#include "kvmyield.bpf.h"

KVMYIELD_DESC("test: one score for everybody, or for one vCPU and no other");

KVMYIELD_PARAM(s32, score, 0);
KVMYIELD_PARAM(s32, only, -1);

SEC("struct_ops/rank")
s32 BPF_PROG(fixed_rank, struct kvm_yield_spin *spin,
	     struct kvm_yield_candidate *cand)
{
	if (only >= 0 && cand->index != only)
		return KVM_YIELD_REFUSE;
	return score;
}

KVMYIELD_POLICY(fixed, .rank = (void *)fixed_rank);
