// SPDX-License-Identifier: GPL-2.0
/*
 * random: any candidate, whatever it was doing.
 *
 * What it does: gives each candidate a random score, so that each is as likely
 * as the others to be yielded to.
 *
 * When to use it: as a control in an experiment. A policy that does not beat it
 * knows nothing; one that does no better than it gains from yielding at all, and
 * not from its choice.
 *
 * When not: in daily use.
 */
#include "kvmyield.bpf.h"

KVMYIELD_DESC("control: any vCPU that waits, by chance");

SEC("struct_ops/rank")
s32 BPF_PROG(random_rank, struct kvm_yield_spin *spin,
	     struct kvm_yield_candidate *cand)
{
	/* 30 bits: all below KVM_YIELD_TAKE, which would favour the early ones. */
	return bpf_get_prandom_u32() >> 2;
}

KVMYIELD_POLICY(random, .rank = (void *)random_rank);
