// SPDX-License-Identifier: GPL-2.0
/* A policy that the verifier refuses: it writes what is not its own. */
#include "kvmyield.bpf.h"

SEC("struct_ops/rank")
s32 BPF_PROG(writes_rank, struct kvm_yield_spin *spin,
	     struct kvm_yield_candidate *cand)
{
	cand->facts = 0;
	return 0;
}

KVMYIELD_POLICY(writes, .rank = (void *)writes_rank);
