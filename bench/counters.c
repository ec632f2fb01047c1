// SPDX-License-Identifier: GPL-2.0
/*
 * counters SPINS CANDIDATES: the hook's own code decides so many spins, natively and on a VM that is only
 * pretended, under a policy that takes whoever comes first. For counting instructions, see bench/counters.
 */
#include <stdio.h>

#include "../tests/unit/fake_kvm.h"

static s32 first_rank(const struct kvm_yield_spin *spin,
		      struct kvm_yield_candidate *cand)
{
	return 1;
}

static const struct kvm_yield_ops first = {
	.rank = first_rank,
	.name = "first",
};

/* Five facts each, which is more than most have: preempted, kernel, wait, irqs_off, hint. */
static void make_candidates(unsigned int nr)
{
	unsigned int i;

	fake_make_vm(nr + 1);
	for (i = 1; i <= nr; i++) {
		struct kvm_vcpu *v = fake_vcpu(i);

		fake_make_ready(i);
		v->fake_out_facts = KVM_YIELD_IRQS_OFF | KVM_YIELD_HINT_VALID;
		v->fake_hint = 1;
		kvm_yield_note_preempted(v);
	}
}

int main(int argc, char **argv)
{
	unsigned long spins, candidates, i;

	if (argc != 3)
		return 2;
	spins = strtoul(argv[1], NULL, 10);
	candidates = strtoul(argv[2], NULL, 10);

	fake_setup(NULL);
	if (fake_attach(&first))
		return 1;
	make_candidates(candidates);
	for (i = 0; i < spins; i++) {
		fake_nr_targets = 0;
		if (!fake_spin(0, false))
			fake_vm->yield.streak = 0;
	}
	fake_detach();

	return 0;
}
