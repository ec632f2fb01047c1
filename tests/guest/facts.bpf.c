// SPDX-License-Identifier: GPL-2.0
/*
 * A policy that writes down what vCPU 0 is told, and chooses nobody. vCPU 1 may
 * yield, and whether it is between rank() and yielded() is known here.
 */
#include "kvmyield.bpf.h"
#include "facts.h"

struct told told[FACTS_MAX];
unsigned int spin_facts, spin_kernel_only, spin_nr_vcpus, spin_nr_ready;
unsigned int spin_index, wrong_vcpu;

volatile bool may_yield;
unsigned int asked, takes, target = FACTS_SPINNING + 1;
bool yielding;

static s32 rank_for_spinning(const struct kvm_yield_candidate *cand)
{
	asked++;
	if (!may_yield || cand->index != target)
		return KVM_YIELD_REFUSE;
	takes++;
	yielding = true;
	return KVM_YIELD_TAKE;
}

SEC("struct_ops/rank")
s32 BPF_PROG(facts_rank, struct kvm_yield_spin *spin,
	     struct kvm_yield_candidate *cand)
{
	u32 i = cand->index;

	if (spin->index == FACTS_SPINNING)
		return rank_for_spinning(cand);

	spin_facts = spin->facts;
	spin_kernel_only = spin->kernel_only;
	spin_nr_vcpus = spin->nr_vcpus;
	spin_nr_ready = spin->nr_ready;
	spin_index = spin->index;
	/* The vCPUs themselves can be read, and are those that are spoken of. */
	if (cand->vcpu->vcpu_idx != i || spin->vcpu->vcpu_idx != spin->index ||
	    cand->vcpu == spin->vcpu)
		wrong_vcpu++;

	if (i >= FACTS_MAX)
		return KVM_YIELD_REFUSE;
	told[i].looks++;
	told[i].facts = cand->facts;
	told[i].hint = cand->hint;
	told[i].wait_ns = cand->wait_ns;

	return KVM_YIELD_REFUSE;
}

SEC("struct_ops/yielded")
void BPF_PROG(facts_yielded, struct kvm_yield_spin *spin,
	      struct kvm_yield_candidate *cand, int ret)
{
	if (spin->index != FACTS_SPINNING)
		return;
	yielding = false;
	/* In turns, or KVM's own code would decide some of the spins. */
	target = cand->index == FACTS_SPINNING + 1 ? FACTS_SPINNING + 2 :
						     FACTS_SPINNING + 1;
}

KVMYIELD_POLICY(facts, .rank = (void *)facts_rank,
		.yielded = (void *)facts_yielded);
