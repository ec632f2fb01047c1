// SPDX-License-Identifier: GPL-2.0
/* A policy that the verifier refuses: it reads past the candidate. */
#include "kvmyield.bpf.h"

SEC("struct_ops/rank")
s32 BPF_PROG(unsafe_rank, struct kvm_yield_spin *spin,
	     struct kvm_yield_candidate *cand)
{
	return *(s32 *)((void *)cand + 4096);
}

KVMYIELD_POLICY(unsafe, .rank = (void *)unsafe_rank);
