// SPDX-License-Identifier: GPL-2.0
/* A policy for one VM, which the kernel does not offer yet. */
#include "kvmyield.bpf.h"

SEC("struct_ops/rank")
s32 BPF_PROG(onevm_rank, struct kvm_yield_spin *spin,
	     struct kvm_yield_candidate *cand)
{
	return 0;
}

KVMYIELD_POLICY(onevm, .rank = (void *)onevm_rank, .vm_pid = 1);
