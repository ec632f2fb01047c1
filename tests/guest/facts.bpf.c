// SPDX-License-Identifier: GPL-2.0
/*
 * A policy that writes down what it was told and chooses nobody. Until it is told
 * to listen it takes whoever comes first.
 */
#include "kvmyield.bpf.h"
#include "facts.h"

volatile bool listening;
struct told told[FACTS_MAX];
unsigned int spin_facts, spin_kernel_only, spin_nr_vcpus, spin_nr_ready;
unsigned int spin_index, wrong_vcpu;

SEC("struct_ops/rank")
s32 BPF_PROG(facts_rank, struct kvm_yield_spin *spin,
	     struct kvm_yield_candidate *cand)
{
	u32 i = cand->index;
	struct told *t;

	if (!listening)
		return KVM_YIELD_TAKE;

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
	t = &told[i];
	if (!t->looks) {
		t->all = cand->facts;
		t->first_wait_ns = cand->wait_ns;
	}
	t->looks++;
	t->any |= cand->facts;
	t->all &= cand->facts;
	t->last_wait_ns = cand->wait_ns;

	return KVM_YIELD_REFUSE;
}

KVMYIELD_POLICY(facts, .rank = (void *)facts_rank);
