// SPDX-License-Identifier: GPL-2.0
/*
 * The bounds that hold whatever a policy says: policies that try to break them.
 */
#include <limits.h>

#include "fake_kvm.h"

static void attach(void)
{
	assert_int_equal(fake_attach(&fake_scripted), 0);
}

static int yield_fails(struct kvm_vcpu *target)
{
	return -ESRCH;
}

static int yield_finds_nothing(struct kvm_vcpu *target)
{
	return 0;
}

static void int_min_refuses(void **state)
{
	attach();
	fake_make_all_ready();
	fake_score_all(INT_MIN);
	fake_score[2] = -2;
	fake_score[3] = KVM_YIELD_REFUSE;
	assert_true(fake_spin(0, true));
	assert_int_equal(fake_nr_ranks, 3);
	assert_no_target();
}

static void int_max_takes_the_next_in_turn(void **state)
{
	attach();
	fake_make_all_ready();
	fake_score_all(INT_MAX);
	assert_int_equal(INT_MAX, KVM_YIELD_TAKE);
	assert_true(fake_spin(0, true));
	assert_true(fake_spin(0, true));
	assert_true(fake_spin(0, true));
	assert_true(fake_spin(0, true));
	assert_targets(1, 2, 3, 1);
	assert_int_equal(fake_nr_ranks, 4);
}

/* The same score for all: each gets its turn, whatever the score. */
static void same_score_is_fair(void **state)
{
	static const s32 scores[] = { 0, 1, INT_MAX - 1, INT_MAX };
	unsigned int i, j, n[17];

	attach();
	for (i = 0; i < ARRAY_LEN(scores); i++) {
		fake_make_vm(17);
		fake_make_all_ready();
		fake_forget();
		fake_score_all(scores[i]);
		memset(n, 0, sizeof(n));
		for (j = 0; j < 1600; j++)
			assert_true(fake_spin(0, true));
		assert_int_equal(fake_nr_targets, 1600);
		for (j = 0; j < 1600; j++)
			n[fake_targets[j]]++;
		assert_int_equal(n[0], 0);
		for (j = 1; j < 17; j++)
			assert_int_equal(n[j], 100);
	}
}

static void always_the_same_is_bounded(void **state)
{
	unsigned int i, j;

	attach();
	fake_make_all_ready();
	fake_score[2] = 1000;
	for (i = 0; i < 4; i++) {
		fake_forget();
		for (j = 0; j < KVM_YIELD_MAX_STREAK; j++) {
			assert_true(fake_spin(0, true));
			assert_int_equal(fake_vm->yield.streak, j + 1);
		}
		assert_targets(2, 2, 2, 2, 2);
		/* One decision for KVM's own code, which asks nobody here. */
		assert_false(fake_spin(0, true));
		assert_int_equal(fake_nr_targets, KVM_YIELD_MAX_STREAK);
		assert_int_equal(fake_status().counters.bounded, i + 1);
		assert_int_equal(fake_status().counters.spins,
				 KVM_YIELD_MAX_STREAK * (i + 1));
	}
}

static void the_candidate_shows_its_streak(void **state)
{
	unsigned int i;

	attach();
	fake_make_all_ready();
	fake_score[2] = 1000;
	for (i = 0; i < KVM_YIELD_MAX_STREAK; i++) {
		fake_forget();
		assert_true(fake_spin(0, true));
		/* The last that was yielded to is asked about last. */
		assert_int_equal(fake_ranks[i ? 2 : 1].cand.index, 2);
		assert_int_equal(fake_ranks[i ? 2 : 1].cand.streak, i);
		assert_int_equal(fake_ranks[0].cand.streak, 0);
	}
}

static void another_one_ends_a_streak(void **state)
{
	unsigned int i;

	attach();
	fake_make_all_ready();
	for (i = 0; i < 40; i++) {
		/* Four times one, then once another. */
		fake_score[2] = i % 5 != 4 ? 1000 : 0;
		fake_score[3] = i % 5 == 4 ? 1000 : 0;
		assert_true(fake_spin(0, true));
	}
	assert_int_equal(fake_status().counters.bounded, 0);
	assert_int_equal(fake_vm->yield.streak, 1);
}

/* Not a choice of the policy: only one waits. The bound is the same. */
static void the_only_one_is_bounded_too(void **state)
{
	unsigned int i, own = 0;

	attach();
	fake_make_vm(2);
	fake_make_ready(1);
	for (i = 0; i < 60; i++)
		own += !fake_spin(0, true);
	assert_int_equal(own, 60 / (KVM_YIELD_MAX_STREAK + 1));
}

static void failed_yields_make_no_streak(void **state)
{
	unsigned int i;

	attach();
	fake_make_all_ready();
	for (i = 0; i < 20; i++) {
		fake_yield = i % 2 ? yield_fails : yield_finds_nothing;
		assert_true(fake_spin(0, true));
	}
	assert_int_equal(fake_vm->yield.streak, 0);
	assert_int_equal(fake_vm->last_boosted_vcpu, 0);
}

static void three_failures_end_the_round(void **state)
{
	attach();
	fake_make_vm(10);
	fake_make_all_ready();
	fake_yield = yield_fails;
	assert_true(fake_spin(0, true));
	assert_targets(1, 2, 3);

	/* The same where each is taken as soon as it is seen. */
	fake_forget();
	fake_score_all(KVM_YIELD_TAKE);
	assert_true(fake_spin(0, true));
	assert_targets(1, 2, 3);
	assert_int_equal(fake_nr_ranks, 3);

	/* One bound for both ways together. */
	fake_forget();
	fake_score_all(1);
	fake_score[5] = KVM_YIELD_TAKE;
	fake_score[7] = KVM_YIELD_TAKE;
	assert_true(fake_spin(0, true));
	assert_targets(5, 7, 1);
}

static void yields_without_effect_are_free_where_taken(void **state)
{
	attach();
	fake_make_vm(10);
	fake_make_all_ready();
	fake_score_all(KVM_YIELD_TAKE);
	fake_yield = yield_finds_nothing;
	assert_true(fake_spin(0, true));
	assert_targets(1, 2, 3, 4, 5, 6, 7, 8, 9);
}

static int fail_odd(struct kvm_vcpu *target)
{
	return target->vcpu_idx % 2 ? -ESRCH : 0;
}

static void only_failures_count(void **state)
{
	attach();
	fake_make_vm(10);
	fake_make_all_ready();
	fake_score_all(KVM_YIELD_TAKE);
	fake_yield = fail_odd;
	assert_true(fake_spin(0, true));
	assert_targets(1, 2, 3, 4, 5);
}

static void refuse_everybody(unsigned int spins)
{
	while (spins--)
		assert_true(fake_spin(0, true));
}

static void never_anyone_is_ejected_at_the_budget(void **state)
{
	attach();
	kvm_yield_refusal_budget = 100;
	fake_make_all_ready();
	fake_score_all(KVM_YIELD_REFUSE);
	refuse_everybody(99);
	assert_int_equal(fake_ejects, 0);
	/* This very spin is left to KVM's own code, and all that follow. */
	assert_false(fake_spin(0, true));
	assert_int_equal(fake_ejects, 1);
	fake_forget();
	assert_false(fake_spin(0, true));
	assert_false(fake_spin(1, false));
	assert_int_equal(fake_nr_ranks, 0);
	assert_int_equal(fake_ejects, 1);
	assert_int_equal(fake_status().counters.refused, 100);
	assert_int_equal(fake_status().counters.overruled, 100);
	assert_int_equal(fake_status().counters.spins, 100);
}

static void budget_of_one_and_of_none(void **state)
{
	attach();
	fake_make_all_ready();
	fake_score_all(KVM_YIELD_REFUSE);
	kvm_yield_refusal_budget = 0;
	refuse_everybody(20000);
	assert_int_equal(fake_ejects, 0);
	assert_int_equal(fake_status().counters.overruled, 20000);

	fake_detach();
	attach();
	kvm_yield_refusal_budget = 1;
	assert_false(fake_spin(0, true));
	assert_int_equal(fake_ejects, 1);
}

static void a_try_resets_the_count(void **state)
{
	unsigned int i;

	attach();
	kvm_yield_refusal_budget = 10;
	fake_make_all_ready();
	/* Even one that comes to nothing: the policy did choose. */
	fake_yield = yield_fails;
	for (i = 0; i < 10; i++) {
		fake_score_all(KVM_YIELD_REFUSE);
		refuse_everybody(9);
		fake_score_all(i % 2 ? 0 : KVM_YIELD_TAKE);
		assert_true(fake_spin(0, true));
	}
	assert_int_equal(fake_ejects, 0);
}

/* Where KVM's own code would choose nobody either, refusing is no fault. */
static void refusals_that_kvm_would_share_are_free(void **state)
{
	struct kvm_vcpu *v = fake_vcpu(2);
	unsigned int overruled;

	attach();
	kvm_yield_refusal_budget = 3;
	fake_score_all(KVM_YIELD_REFUSE);
	/* Nobody waits. */
	refuse_everybody(10);
	assert_int_equal(fake_status().counters.refused, 0);
	/* A user-mode vCPU, of no use to a spinner that asks for kernel mode. */
	fake_make_ready(2);
	v->fake_preempted_in_kernel = false;
	refuse_everybody(10);
	/* A pending interrupt that KVM's own code does not see. */
	v->fake_facts = KVM_YIELD_INTERRUPT;
	refuse_everybody(10);
	/* One that spins itself. */
	v->fake_preempted_in_kernel = true;
	v->spin_loop.in_spin_loop = true;
	refuse_everybody(10);
	assert_int_equal(fake_status().counters.refused, 30);
	assert_int_equal(fake_status().counters.overruled, 0);
	assert_int_equal(fake_ejects, 0);

	/* Each of these KVM's own code would have chosen. */
	kvm_yield_refusal_budget = 0;
	v->spin_loop.in_spin_loop = false;
	assert_true(fake_spin(0, true));
	v->fake_preempted_in_kernel = false;
	assert_true(fake_spin(0, false));
	v->fake_facts = KVM_YIELD_INTERRUPT | KVM_YIELD_APICV_INTERRUPT;
	assert_true(fake_spin(0, true));
	v->fake_facts = 0;
	v->preempted = false;
	assert_true(fake_spin(0, true));
	overruled = fake_status().counters.overruled;
	assert_int_equal(overruled, 4);
}

/* A refusal that KVM shares is neither a fault nor an excuse. */
static void shared_refusals_do_not_reset_the_count(void **state)
{
	attach();
	kvm_yield_refusal_budget = 3;
	fake_score_all(KVM_YIELD_REFUSE);
	fake_make_ready(2);
	refuse_everybody(2);
	fake_vcpu(2)->fake_preempted_in_kernel = false;
	refuse_everybody(5);
	fake_vcpu(2)->fake_preempted_in_kernel = true;
	assert_false(fake_spin(0, true));
	assert_int_equal(fake_ejects, 1);
}

static void alone_in_the_vm(void **state)
{
	attach();
	kvm_yield_refusal_budget = 2;
	fake_make_vm(1);
	fake_make_ready(0);
	fake_score_all(KVM_YIELD_TAKE);
	refuse_everybody(10);
	assert_no_target();
	assert_int_equal(fake_nr_ranks, 0);
	assert_int_equal(fake_ejects, 0);
}

/* Each spins in turn, and would like to choose itself. */
static void nobody_yields_to_itself(void **state)
{
	unsigned int i, me;

	attach();
	fake_make_all_ready();
	for (i = 0; i < 400; i++) {
		me = i * 7 % 4;
		fake_score_all(0);
		fake_score[me] = i % 2 ? KVM_YIELD_TAKE : 1000;
		fake_forget();
		if (fake_spin(me, i % 3))
			assert_int_not_equal(fake_targets[0], me);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, fake_setup, fake_teardown)
		TEST(int_min_refuses),
		TEST(int_max_takes_the_next_in_turn),
		TEST(same_score_is_fair),
		TEST(always_the_same_is_bounded),
		TEST(the_candidate_shows_its_streak),
		TEST(another_one_ends_a_streak),
		TEST(the_only_one_is_bounded_too),
		TEST(failed_yields_make_no_streak),
		TEST(three_failures_end_the_round),
		TEST(yields_without_effect_are_free_where_taken),
		TEST(only_failures_count),
		TEST(never_anyone_is_ejected_at_the_budget),
		TEST(budget_of_one_and_of_none),
		TEST(a_try_resets_the_count),
		TEST(refusals_that_kvm_would_share_are_free),
		TEST(shared_refusals_do_not_reset_the_count),
		TEST(alone_in_the_vm),
		TEST(nobody_yields_to_itself),
	};

	setenv("CMOCKA_MESSAGE_OUTPUT", "TAP", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
