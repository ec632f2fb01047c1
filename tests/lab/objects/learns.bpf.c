// SPDX-License-Identifier: GPL-2.0
/* A policy that uses all there is: a map, yielded(), the vCPU, a parameter. */
#include "kvmyield.bpf.h"

KVMYIELD_DESC("test: prefers whoever was yielded to with success");
KVMYIELD_PARAM(u8, bonus, 10);

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, u64);
	__type(value, u32);
} successes SEC(".maps");

SEC("struct_ops/rank")
s32 BPF_PROG(learns_rank, struct kvm_yield_spin *spin,
	     struct kvm_yield_candidate *cand)
{
	u64 key = (u64)cand->vcpu;
	u32 *n = bpf_map_lookup_elem(&successes, &key);

	return cand->vcpu->vcpu_idx + (n ? bonus : 0);
}

SEC("struct_ops/yielded")
void BPF_PROG(learns_yielded, struct kvm_yield_spin *spin,
	      struct kvm_yield_candidate *cand, int ret)
{
	u64 key = (u64)cand->vcpu;
	u32 one = 1;

	if (ret > 0)
		bpf_map_update_elem(&successes, &key, &one, BPF_ANY);
}

KVMYIELD_POLICY(learns, .rank = (void *)learns_rank,
		.yielded = (void *)learns_yielded);
