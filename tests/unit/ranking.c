// SPDX-License-Identifier: GPL-2.0
/* Ask a policy about a row of candidates, and compare the order. */
#include "ranking.h"

int ranking_setup(void **state)
{
	static volatile u8 *const weight[] = {
		&ipi_from_spinner, &critical, &kicked, &kernel, &ipi, &interrupt,
	};
	static u8 defaults[ARRAY_LEN(weight)];
	static bool default_longest_first, known;
	unsigned int i;

	if (!known) {
		for (i = 0; i < ARRAY_LEN(weight); i++)
			defaults[i] = *weight[i];
		default_longest_first = longest_first;
		known = true;
	}
	for (i = 0; i < ARRAY_LEN(weight); i++)
		*weight[i] = defaults[i];
	longest_first = default_longest_first;

	return fake_setup(state);
}

struct kvm_yield_spin spinner_of(enum spinner spinner)
{
	return (struct kvm_yield_spin) {
		.facts = spinner == IN_USER ? 0 :
			 spinner == IN_KERNEL ? KVM_YIELD_KERNEL :
			 KVM_YIELD_KERNEL | KVM_YIELD_IRQS_OFF,
		.nr_vcpus = 64,
		.nr_ready = 8,
		.kernel_only = spinner != IN_USER,
	};
}

s32 rank(const struct kvm_yield_ops *ops, enum spinner spinner,
	 struct kvm_yield_candidate *cand)
{
	struct kvm_yield_spin spin = spinner_of(spinner);

	return ops->rank(&spin, cand);
}

void sort_scores(const s32 *score, unsigned int nr, char *order, size_t size)
{
	bool done[MAX_CANDS] = { false };
	size_t used = 0;
	unsigned int i;
	int best;

	order[0] = '\0';
	do {
		best = -1;
		for (i = 0; i < nr; i++) {
			if (!done[i] && score[i] >= 0 &&
			    (best < 0 || score[i] > score[best]))
				best = i;
		}
		if (best < 0)
			return;
		done[best] = true;
		used += snprintf(order + used, size - used, "%s%d",
				 used ? " " : "", best);
	} while (used < size);
}

void check_rows_of(const struct kvm_yield_ops *ops, const struct row *rows,
		   unsigned int nr)
{
	struct kvm_yield_candidate cand;
	s32 score[MAX_CANDS];
	char order[64];
	unsigned int i, j, bad = 0;

	for (i = 0; i < nr; i++) {
		for (j = 0; j < rows[i].nr; j++) {
			cand = rows[i].cand[j];
			cand.index = j;
			score[j] = rank(ops, rows[i].spinner, &cand);
		}
		sort_scores(score, rows[i].nr, order, sizeof(order));
		if (!strcmp(order, rows[i].order))
			continue;
		print_message("#  %s, %s: got \"%s\", not \"%s\"\n", ops->name,
			      rows[i].what, order, rows[i].order);
		bad++;
	}
	assert_int_equal(bad, 0);
}
