// SPDX-License-Identifier: GPL-2.0
/* A policy that ranks nobody: what the kernel cannot do without is missing. */
#include "kvmyield.bpf.h"

SEC("struct_ops/yielded")
void BPF_PROG(norank_yielded, struct kvm_yield_spin *spin,
	      struct kvm_yield_candidate *cand, int ret)
{
}

KVMYIELD_POLICY(norank, .yielded = (void *)norank_yielded);
