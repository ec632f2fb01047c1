// SPDX-License-Identifier: GPL-2.0
/* In what order each policy would have the candidates, from tables. */
#include "ranking.h"

static const struct row builtin_rows[] = {
	{ "takes all in turn from user mode", IN_USER,
	  CANDS(C(USER, 9), C(KERNEL, 1), C(WOKEN, 2)), "0 1 2" },
	{ "kernel mode, hardware's interrupts, and woken ones", IN_KERNEL,
	  CANDS(C(USER, 9), C(USER | APICV, 1), C(KERNEL, 5), C(WOKEN, 2)), "1 2 3" },
	{ "does not see an interrupt that hardware does not hold", IN_KERNEL,
	  CANDS(C(USER | INT, 9), C(USER | MINE, 9)), "" },
	{ "spinning ones are passed over until their turn", IN_KERNEL,
	  CANDS(C(KERNEL | SPINNING, 9), ELIGIBLE(KERNEL | SPINNING, 1)), "1" },
};

static const struct row never_rows[] = {
	{ "nobody", IN_USER,
	  CANDS(C(USER, 9), C(KERNEL, 1), C(WOKEN, 2), C(USER | APICV, 1),
		H(KERNEL | OFF | MINE | KICKED, 9, LOCK)), "" },
};

static const struct row kernel_only_rows[] = {
	{ "kernel mode and woken ones, in turns", IN_KERNEL,
	  CANDS(C(KERNEL, 1), C(USER, 9), C(WOKEN, 2), C(KERNEL, 5)), "0 2 3" },
	{ "user mode is refused, whatever is pending", IN_KERNEL,
	  CANDS(C(USER | INT, 9), C(USER | APICV, 9), C(USER | MINE, 9),
		C(USER | KICKED, 9), H(USER | OFF, 9, LOCK)), "" },
	{ "nothing makes kernel mode better", IRQS_OFF,
	  CANDS(C(KERNEL, 1), H(KERNEL | OFF, 9, LOCK), C(KERNEL | MINE, 9),
		C(WOKEN | KICKED, 9)), "0 1 2 3" },
	{ "takes all in turn from user mode", IN_USER,
	  CANDS(C(USER, 1), C(KERNEL, 9), C(USER | INT, 9)), "0 1 2" },
	{ "where nothing is known there is nobody", IN_KERNEL,
	  CANDS(C(KVM_YIELD_PREEMPTED, 0), C(KVM_YIELD_PREEMPTED, 0)), "" },
	{ "but for a spinner in user mode", IN_USER,
	  CANDS(C(KVM_YIELD_PREEMPTED, 0), C(KVM_YIELD_PREEMPTED, 0)), "0 1" },
	{ "spinning ones are passed over until their turn", IN_KERNEL,
	  CANDS(C(KERNEL | SPINNING, 9), ELIGIBLE(KERNEL | SPINNING, 1)), "1" },
};

static const struct row two_pass_rows[] = {
	{ "a receiver in user mode after all in kernel mode", IN_KERNEL,
	  CANDS(C(USER | INT, 9), C(KERNEL, 1), C(USER | APICV, 5), C(WOKEN, 1),
		C(USER | MINE, 9), C(KERNEL, 9)), "1 3 5 0 2 4" },
	{ "if there is no other it is found", IN_KERNEL,
	  CANDS(C(USER, 9), C(USER | INT, 1), C(USER | MINE, 1)), "1 2" },
	{ "plain user mode is refused", IN_KERNEL,
	  CANDS(C(USER, 9), H(USER | OFF, 9, LOCK), C(USER | KICKED, 1)), "" },
	{ "one pass for a spinner in user mode", IN_USER,
	  CANDS(C(USER, 1), C(USER | INT, 9), C(KERNEL, 9)), "0 1 2" },
	{ "where nothing is known there is nobody", IN_KERNEL,
	  CANDS(C(KVM_YIELD_PREEMPTED, 0)), "" },
	{ "spinning ones are passed over until their turn, in both", IN_KERNEL,
	  CANDS(ELIGIBLE(USER | INT | SPINNING, 9), C(KERNEL | SPINNING, 9),
		ELIGIBLE(KERNEL | SPINNING, 1), C(USER | INT | SPINNING, 1)), "2 0" },
};

static const struct row ipi_boost_rows[] = {
	{ "a receiver in user mode is not second to kernel mode", IN_KERNEL,
	  CANDS(C(USER | INT, 1), C(KERNEL, 9), C(USER | APICV, 1), C(WOKEN, 9),
		C(USER | IPI, 1)), "0 1 2 3 4" },
	{ "nor first", IN_KERNEL,
	  CANDS(C(KERNEL, 1), C(USER | MINE, 9), C(KERNEL | OFF, 9)), "0 1 2" },
	{ "plain user mode is refused", IN_KERNEL,
	  CANDS(C(USER, 9), H(USER | OFF, 9, LOCK), C(USER | KICKED, 1)), "" },
	{ "takes all in turn from user mode", IN_USER,
	  CANDS(C(USER, 1), C(KERNEL, 9), C(USER | INT, 9)), "0 1 2" },
	{ "where nothing is known there is nobody", IN_KERNEL,
	  CANDS(C(KVM_YIELD_PREEMPTED, 0)), "" },
	{ "spinning ones are passed over until their turn", IN_KERNEL,
	  CANDS(C(USER | INT | SPINNING, 9), ELIGIBLE(USER | INT | SPINNING, 1)), "1" },
};

static const struct row ipi_pair_rows[] = {
	{ "whom it sent an IPI first, in whatever mode", IN_KERNEL,
	  CANDS(C(KERNEL, 9), C(USER | IPI, 9), C(USER | MINE, 0),
		C(KERNEL | MINE, 1), C(WOKEN | MINE, 2), H(KERNEL | OFF, 9, LOCK)),
	  "2 3 4 0 1 5" },
	{ "an IPI of another ranks with kernel mode", IN_KERNEL,
	  CANDS(C(KERNEL, 1), C(USER | IPI, 9), C(USER | INT, 9), C(WOKEN, 1)),
	  "0 1 2 3" },
	{ "plain user mode is refused", IN_KERNEL,
	  CANDS(C(USER, 9), H(USER | OFF, 9, LOCK), C(USER | KICKED, 1)), "" },
	{ "with interrupts off the same", IRQS_OFF,
	  CANDS(C(KERNEL, 9), C(USER | MINE, 0)), "1 0" },
	{ "from user mode the others in turns", IN_USER,
	  CANDS(C(USER, 1), C(KERNEL, 9), C(USER | MINE, 1)), "2 0 1" },
	{ "where nothing is known there is nobody", IN_KERNEL,
	  CANDS(C(KVM_YIELD_PREEMPTED, 0)), "" },
	{ "spinning ones are passed over until their turn", IN_KERNEL,
	  CANDS(C(USER | MINE | SPINNING, 9), ELIGIBLE(USER | MINE | SPINNING, 1),
		ELIGIBLE(KERNEL | SPINNING, 1)), "1 2" },
};

static const struct row critical_section_rows[] = {
	{ "critical sections, then IPIs, then kernel mode and interrupts", IN_KERNEL,
	  CANDS(C(KERNEL, 9), C(USER | INT, 9), C(USER | IPI, 9),
		H(KERNEL, 0, LOCK), C(KERNEL | OFF, 1), C(USER | MINE, 1),
		C(WOKEN, 1), C(USER, 9)), "3 4 2 5 0 1 6" },
	{ "all that Linux counts", IN_KERNEL,
	  CANDS(H(KERNEL, 9, FREE), H(KERNEL, 1, SOFTIRQ), H(KERNEL, 1, BH_OFF),
		H(KERNEL, 1, HARDIRQ), H(KERNEL, 1, NMI), H(KERNEL, 1, LOCK)),
	  "1 2 3 4 5 0" },
	{ "and nothing else", IN_KERNEL,
	  CANDS(C(KERNEL, 1), H(KERNEL, 1, RESCHED), H(KERNEL, 1, UNKNOWN),
		H(KERNEL, 1, FREE)), "0 1 2 3" },
	{ "a word that is not valid is none", IN_KERNEL,
	  CANDS(C(KERNEL, 1), { .facts = KERNEL, .hint = LOCK }), "0 1" },
	{ "the host knows user mode better than the hint", IN_KERNEL,
	  CANDS(H(USER, 9, LOCK), C(KERNEL, 1), H(USER | INT, 1, LOCK)), "1 2" },
	{ "interrupts are off whatever the hint says", IN_KERNEL,
	  CANDS(C(KERNEL, 9), H(KERNEL | OFF, 1, FREE), C(USER | OFF, 1)), "1 2 0" },
	{ "without a hint it is kernel mode", IN_KERNEL,
	  CANDS(C(USER, 9), C(KERNEL, 1), C(KERNEL, 1)), "1 2" },
	{ "from user mode the others in turns", IN_USER,
	  CANDS(C(USER, 1), C(KERNEL, 9), H(KERNEL, 1, LOCK)), "2 0 1" },
	{ "where nothing is known there is nobody", IN_KERNEL,
	  CANDS(C(KVM_YIELD_PREEMPTED, 0)), "" },
	{ "spinning ones are passed over until their turn", IN_KERNEL,
	  CANDS(H(KERNEL | SPINNING, 9, LOCK), ELIGIBLE(KERNEL | OFF | SPINNING, 1),
		ELIGIBLE(USER | IPI | SPINNING, 1), ELIGIBLE(KERNEL | SPINNING, 1)),
	  "1 2 3" },
};

static const struct row default_rows[] = {
	{ "own IPIs, critical sections, kicked, kernel mode; never plain user mode", IN_KERNEL,
	  CANDS(C(USER, 9), C(KERNEL, 9), C(WOKEN | KICKED, 4), H(KERNEL, 3, LOCK),
		C(KERNEL | OFF, 2), C(USER | MINE, 0)), "5 3 4 2 1" },
	{ "a receiver in user mode is not second to kernel mode", IN_KERNEL,
	  CANDS(C(KERNEL, 2), C(USER | INT, 5), C(USER | IPI, 3), C(WOKEN, 4),
		C(USER | APICV, 1)), "1 3 2 0 4" },
	{ "with interrupts off it waits for no answer", IRQS_OFF,
	  CANDS(C(USER | MINE, 5), H(KERNEL, 1, LOCK), C(KERNEL, 9)), "1 2 0" },
	{ "in user mode itself it may wait for user mode", IN_USER,
	  CANDS(C(USER, 9), C(USER | INT, 1), C(KERNEL, 2)), "2 1 0" },
	{ "a user-mode vCPU with an interrupt is not second to a plain one", IN_USER,
	  CANDS(C(USER, 1000000), C(USER | INT, 0)), "1 0" },
	{ "woken from a halt counts as kernel mode", IN_KERNEL,
	  CANDS(C(USER, 9), C(WOKEN, 2), C(KERNEL, 1)), "1 2" },
	{ "the longest waiting of a class", IN_KERNEL,
	  CANDS(C(KERNEL, 1), C(KERNEL, 3), C(KERNEL, 2)), "1 2 0" },
	{ "the longest waiting in a critical section lost its CPU first", IN_KERNEL,
	  CANDS(H(KERNEL, 1, LOCK), H(KERNEL, 3, LOCK), H(KERNEL, 2, NMI)), "1 2 0" },
	{ "an unknown wait is none, and keeps its class", IN_KERNEL,
	  CANDS(C(KERNEL & ~WAITING, 0), C(KERNEL, 1), H(KERNEL & ~WAITING, 0, LOCK)),
	  "2 1 0" },
	{ "equals keep their turns", IN_KERNEL,
	  CANDS(C(KERNEL, 2), C(KERNEL, 2), C(USER | INT, 2)), "0 1 2" },
	{ "the host knows user mode better than the hint", IN_KERNEL,
	  CANDS(H(USER, 9, LOCK), C(KERNEL, 1), H(USER | INT, 2, LOCK)), "2 1" },
	{ "kernel mode outside of a section is kernel mode", IN_KERNEL,
	  CANDS(H(KERNEL, 2, FREE), C(KERNEL, 1), H(KERNEL, 3, RESCHED)), "2 0 1" },
	{ "without a hint it is kernel mode", IN_KERNEL,
	  CANDS(C(USER, 9), C(KERNEL, 1), { .facts = KERNEL, .hint = LOCK }), "1 2" },
	{ "where nothing is known there is nobody", IN_KERNEL,
	  CANDS(C(KVM_YIELD_PREEMPTED, 0), C(KVM_YIELD_PREEMPTED, 0)), "" },
	{ "but for a spinner in user mode", IN_USER,
	  CANDS(C(KVM_YIELD_PREEMPTED, 0), C(KVM_YIELD_PREEMPTED, 0)), "0 1" },
	{ "spinning ones are passed over until their turn", IN_KERNEL,
	  CANDS(C(KERNEL | SPINNING, 9), ELIGIBLE(KERNEL | SPINNING, 1),
		C(USER | INT, 0)), "1 2" },
};

static const struct row own_weights_rows[] = {
	{ "interrupts before IPIs before kernel mode before kicked before sections", IN_KERNEL,
	  CANDS(H(KERNEL, 9, LOCK), C(USER | KICKED, 9), C(KERNEL, 9),
		C(USER | KVM_YIELD_IPI, 9), C(USER | INT, 9),
		C(USER | KVM_YIELD_IPI_FROM_SPINNER, 9)), "4 3 0 2 1 5" },
};

static const struct row in_turns_rows[] = {
	{ "in turns among equals", IN_KERNEL,
	  CANDS(C(KERNEL, 1), C(KERNEL, 3), C(USER | INT, 2), H(KERNEL, 1, LOCK)),
	  "3 0 1 2" },
};

static const struct row no_weight_rows[] = {
	{ "a fact without a weight is accepted last, and not refused", IN_KERNEL,
	  CANDS(C(KERNEL, 9), C(USER | INT, 1), C(USER, 9), C(WOKEN, 9)), "1 0 3" },
};

#define ORDERS(policy)							\
static void policy##_orders(void **state)				\
{									\
	check_rows(&policy_##policy, policy##_rows);			\
}
ORDERS(builtin)
ORDERS(never)
ORDERS(kernel_only)
ORDERS(two_pass)
ORDERS(ipi_boost)
ORDERS(ipi_pair)
ORDERS(critical_section)

static void default_orders(void **state)
{
	check_rows(&policy_yield_policy, default_rows);
}

static void default_with_other_weights(void **state)
{
	ipi_from_spinner = 1;
	critical = 2;
	kicked = 3;
	kernel = 4;
	ipi = 5;
	interrupt = 6;
	check_rows(&policy_yield_policy, own_weights_rows);
}

static void default_without_a_weight(void **state)
{
	kernel = 0;
	check_rows(&policy_yield_policy, no_weight_rows);
}

static void default_in_turns(void **state)
{
	longest_first = false;
	check_rows(&policy_yield_policy, in_turns_rows);
}

static const struct kvm_yield_ops *const polite[] = {
	&policy_builtin, &policy_kernel_only, &policy_two_pass, &policy_ipi_boost,
	&policy_ipi_pair, &policy_critical_section, &policy_yield_policy,
};

static void passed_over_every_other_time(void **state)
{
	static const u32 facts[] = { KERNEL, KERNEL | MINE, KERNEL | OFF };
	struct kvm_yield_candidate cand;
	unsigned int i, j, turn;
	s32 score;

	for (i = 0; i < ARRAY_LEN(polite); i++) {
		for (j = 0; j < ARRAY_LEN(facts); j++) {
			cand = (struct kvm_yield_candidate) {
				.facts = facts[j] | SPINNING,
			};
			for (turn = 0; turn < 10; turn++) {
				score = rank(polite[i], IN_KERNEL, &cand);
				assert_int_equal(score >= 0, turn % 2);
				assert_int_equal(cand.dy_eligible, turn % 2 == 0);
			}
		}
	}
}

/* A look that ends in a refusal for another reason does not use up a turn. */
static void refused_ones_keep_their_turn(void **state)
{
	struct kvm_yield_candidate cand = { .facts = USER | SPINNING };
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(polite); i++) {
		assert_true(rank(polite[i], IN_KERNEL, &cand) < 0);
		assert_false(cand.dy_eligible);
	}
}

static void random_never_takes(void **state)
{
	static const u32 words[] = { 0, 1, 3, 4, 0x7fffffff, 0x80000000, 0xffffffff };
	struct kvm_yield_candidate cand = { .facts = USER };
	s32 score, last = -1;
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(words); i++) {
		fake_random = words[i];
		score = rank(&policy_random, IN_KERNEL, &cand);
		assert_true(score >= last && score >= 0);
		assert_true(score < KVM_YIELD_TAKE);
		last = score;
	}
	assert_true(last > 0);
}

static void names(void **state)
{
	assert_string_equal(policy_builtin.name, "builtin");
	assert_string_equal(policy_critical_section.name, "critical_section");
	assert_string_equal(policy_ipi_boost.name, "ipi_boost");
	assert_string_equal(policy_ipi_pair.name, "ipi_pair");
	assert_string_equal(policy_kernel_only.name, "kernel_only");
	assert_string_equal(policy_never.name, "never");
	assert_string_equal(policy_random.name, "random");
	assert_string_equal(policy_two_pass.name, "two_pass");
	assert_string_equal(policy_yield_policy.name, "yield_policy");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, ranking_setup, fake_teardown)
		TEST(builtin_orders),
		TEST(never_orders),
		TEST(kernel_only_orders),
		TEST(two_pass_orders),
		TEST(ipi_boost_orders),
		TEST(ipi_pair_orders),
		TEST(critical_section_orders),
		TEST(default_orders),
		TEST(default_with_other_weights),
		TEST(default_without_a_weight),
		TEST(default_in_turns),
		TEST(passed_over_every_other_time),
		TEST(refused_ones_keep_their_turn),
		TEST(random_never_takes),
		TEST(names),
	};

	setenv("CMOCKA_MESSAGE_OUTPUT", "TAP", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
