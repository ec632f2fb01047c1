// SPDX-License-Identifier: GPL-2.0
/*
 * Whom a spin goes to: which vCPUs the policy is asked about, what it is told of
 * them, and in what order its choices are tried.
 */
#include "fake_kvm.h"

static void attach(void)
{
	assert_int_equal(fake_attach(&fake_scripted), 0);
}

static void hook_is_off_without_a_policy(void **state)
{
	fake_make_all_ready();
	assert_false(fake_spin(0, true));
	assert_no_target();

	attach();
	assert_true(fake_spin(0, true));
	assert_targets(1);

	fake_detach();
	assert_false(fake_spin(0, true));
	assert_targets(1);
}

static void asks_in_round_robin_order_from_the_last_boosted(void **state)
{
	static const u32 want[4][3] = {
		{ 1, 2, 3 }, { 2, 3, 1 }, { 3, 1, 2 }, { 1, 2, 3 },
	};
	unsigned int last, i;

	attach();
	fake_make_all_ready();
	fake_score_all(KVM_YIELD_REFUSE);
	for (last = 0; last < 4; last++) {
		fake_forget();
		fake_vm->last_boosted_vcpu = last;
		assert_true(fake_spin(0, true));
		assert_int_equal(fake_nr_ranks, 3);
		for (i = 0; i < 3; i++)
			assert_int_equal(fake_ranks[i].cand.index, want[last][i]);
	}
	/* As in a new VM of some versions of Linux. */
	fake_forget();
	fake_vm->last_boosted_vcpu = -1;
	assert_true(fake_spin(0, true));
	assert_int_equal(fake_ranks[0].cand.index, 1);
}

static void asks_only_about_those_that_wait(void **state)
{
	attach();
	fake_make_vm(6);
	fake_make_all_ready();
	fake_vcpu(0)->ready = false;
	fake_vcpu(2)->fake_blocking = true;
	fake_vcpu(3)->fake_blocking = true;
	fake_vcpu(3)->fake_dy_runnable = true;
	/* Not blocking: whether it has something to wake up for is no matter. */
	fake_vcpu(4)->fake_dy_runnable = false;
	fake_score_all(KVM_YIELD_REFUSE);
	assert_true(fake_spin(1, true));
	assert_int_equal(fake_nr_ranks, 3);
	assert_int_equal(fake_ranks[0].cand.index, 3);
	assert_int_equal(fake_ranks[1].cand.index, 4);
	assert_int_equal(fake_ranks[2].cand.index, 5);
	/* Blocking ones count as ready: they are, and will be asked about soon. */
	assert_int_equal(fake_ranks[0].spin.nr_ready, 4);
}

static void run_all(void)
{
	int i;

	for (i = 0; i < fake_vm->online_vcpus.counter; i++)
		fake_vcpu(i)->ready = false;
}

static s32 rank_then_all_run(const struct kvm_yield_spin *spin,
			     struct kvm_yield_candidate *cand)
{
	fake_other_cpu(run_all);
	return KVM_YIELD_REFUSE;
}

static void looks_again_whether_they_still_wait(void **state)
{
	const struct kvm_yield_ops ops = { .rank = rank_then_all_run, .name = "x" };

	assert_int_equal(fake_attach(&ops), 0);
	fake_make_all_ready();
	assert_true(fake_spin(0, true));
	assert_int_equal(fake_status().counters.candidates, 1);
}

static void tells_of_the_spinner(void **state)
{
	attach();
	fake_make_vm(5);
	fake_make_ready(1);
	fake_make_ready(3);
	fake_make_ready(4);
	fake_vcpu(3)->fake_in_kernel = true;
	assert_true(fake_spin(3, true));
	assert_int_equal(fake_ranks[0].spin.index, 3);
	assert_int_equal(fake_ranks[0].spin.facts, KVM_YIELD_KERNEL);
	assert_int_equal(fake_ranks[0].spin.nr_vcpus, 5);
	assert_int_equal(fake_ranks[0].spin.nr_ready, 2);
	assert_true(fake_ranks[0].spin.kernel_only);

	fake_forget();
	assert_true(fake_spin(0, false));
	assert_int_equal(fake_ranks[0].spin.facts, 0);
	assert_int_equal(fake_ranks[0].spin.nr_ready, 3);
	assert_false(fake_ranks[0].spin.kernel_only);
}

static u32 facts_of(unsigned int index)
{
	fake_forget();
	assert_true(fake_spin(0, true));
	assert_int_equal(fake_nr_ranks, 1);
	assert_int_equal(fake_ranks[0].cand.index, index);
	return fake_ranks[0].cand.facts & ~KVM_YIELD_WAIT_VALID;
}

static void tells_the_facts(void **state)
{
	struct kvm_vcpu *v = fake_vcpu(2);

	attach();
	fake_score_all(KVM_YIELD_REFUSE);
	v->ready = true;
	assert_int_equal(facts_of(2), KVM_YIELD_WOKEN);
	/* A mode is told of preempted ones only. */
	v->fake_preempted_in_kernel = true;
	assert_int_equal(facts_of(2), KVM_YIELD_WOKEN);
	v->preempted = true;
	assert_int_equal(facts_of(2), KVM_YIELD_PREEMPTED | KVM_YIELD_KERNEL);
	v->fake_preempted_in_kernel = false;
	assert_int_equal(facts_of(2), KVM_YIELD_PREEMPTED);
	v->spin_loop.in_spin_loop = true;
	assert_int_equal(facts_of(2), KVM_YIELD_PREEMPTED | KVM_YIELD_SPINNING);
	v->spin_loop.in_spin_loop = false;
	v->fake_facts = KVM_YIELD_INTERRUPT;
	assert_int_equal(facts_of(2), KVM_YIELD_PREEMPTED | KVM_YIELD_INTERRUPT);
}

static void wait_is_known_only_since_the_hook_is_on(void **state)
{
	fake_make_ready(1);
	fake_make_ready(2);
	/* Off: nothing is noted. */
	fake_clock = 500;
	kvm_yield_note_ready(fake_vcpu(1));
	assert_int_equal(fake_vcpu(1)->yield.ready_since, 0);
	fake_vcpu(1)->yield.ready_since = 999;

	fake_clock = 1000;
	attach();
	kvm_yield_note_ready(fake_vcpu(2));
	fake_clock = 3500;
	fake_score_all(KVM_YIELD_REFUSE);
	assert_true(fake_spin(0, true));
	assert_int_equal(fake_ranks[0].cand.index, 1);
	assert_false(fake_ranks[0].cand.facts & KVM_YIELD_WAIT_VALID);
	assert_int_equal(fake_ranks[0].cand.wait_ns, 0);
	assert_int_equal(fake_ranks[1].cand.index, 2);
	assert_true(fake_ranks[1].cand.facts & KVM_YIELD_WAIT_VALID);
	assert_int_equal(fake_ranks[1].cand.wait_ns, 2500);

	/* The clock of this CPU may be behind the one that noted it. */
	fake_clock = 999;
	fake_forget();
	assert_true(fake_spin(0, true));
	assert_true(fake_ranks[1].cand.facts & KVM_YIELD_WAIT_VALID);
	assert_int_equal(fake_ranks[1].cand.wait_ns, 0);
}

static void wait_survives_a_replacement(void **state)
{
	attach();
	fake_make_ready(1);
	kvm_yield_note_ready(fake_vcpu(1));
	fake_clock += 100;
	assert_int_equal(fake_replace(&fake_scripted), 0);
	fake_clock += 100;
	assert_true(fake_spin(0, true));
	assert_int_equal(fake_ranks[0].cand.wait_ns, 200);
}

static void best_score_first(void **state)
{
	attach();
	fake_make_vm(5);
	fake_make_all_ready();
	fake_score[1] = 10;
	fake_score[2] = 30;
	fake_score[3] = KVM_YIELD_REFUSE;
	fake_score[4] = 20;
	assert_true(fake_spin(0, true));
	assert_targets(2);
}

static int yield_fails(struct kvm_vcpu *target)
{
	return -ESRCH;
}

static int yield_finds_nothing(struct kvm_vcpu *target)
{
	return 0;
}

static void tries_the_best_three_in_order_of_score(void **state)
{
	attach();
	fake_make_vm(8);
	fake_make_all_ready();
	fake_yield = yield_finds_nothing;
	fake_score[1] = 1;
	fake_score[2] = 5;
	fake_score[3] = 3;
	fake_score[4] = 7;
	fake_score[5] = 0;
	fake_score[6] = 6;
	fake_score[7] = KVM_YIELD_TAKE - 1;
	assert_true(fake_spin(0, true));
	assert_targets(7, 4, 6);
}

static void equals_in_round_robin_order(void **state)
{
	attach();
	fake_make_vm(8);
	fake_make_all_ready();
	fake_yield = yield_finds_nothing;
	fake_score_all(42);
	fake_vm->last_boosted_vcpu = 5;
	assert_true(fake_spin(0, true));
	/* And the fourth equal one does not push out an earlier one. */
	assert_targets(6, 7, 1);

	fake_forget();
	fake_score[3] = 43;
	assert_true(fake_spin(0, true));
	assert_targets(3, 6, 7);

	fake_forget();
	fake_score[3] = 42;
	fake_score[6] = 41;
	assert_true(fake_spin(0, true));
	assert_targets(7, 1, 2);
}

static void wraps_at_the_last_index(void **state)
{
	attach();
	fake_make_all_ready();
	fake_vm->last_boosted_vcpu = 3;
	assert_true(fake_spin(2, true));
	assert_targets(0);
	assert_int_equal(fake_vm->last_boosted_vcpu, 0);
}

static void take_ends_the_search(void **state)
{
	attach();
	fake_make_vm(6);
	fake_make_all_ready();
	fake_score_all(5);
	fake_score[3] = KVM_YIELD_TAKE;
	assert_true(fake_spin(0, true));
	assert_targets(3);
	assert_int_equal(fake_nr_ranks, 3);
	assert_int_equal(fake_vm->last_boosted_vcpu, 3);
}

static void take_that_fails_goes_on_with_the_rest(void **state)
{
	attach();
	fake_make_vm(6);
	fake_make_all_ready();
	fake_score[2] = KVM_YIELD_TAKE;
	fake_score[4] = 9;
	fake_yield = yield_finds_nothing;
	assert_true(fake_spin(0, true));
	assert_targets(2, 4, 1, 3);
}

static void yielded_learns_every_result(void **state)
{
	unsigned int i;

	attach();
	fake_make_all_ready();
	fake_yield = yield_fails;
	assert_true(fake_spin(0, false));
	assert_int_equal(fake_nr_yieldeds, 3);
	for (i = 0; i < 3; i++) {
		assert_int_equal(fake_yieldeds[i].cand.index, i + 1);
		assert_int_equal(fake_yieldeds[i].ret, -ESRCH);
	}
	fake_forget();
	fake_yield = NULL;
	assert_true(fake_spin(0, false));
	assert_int_equal(fake_nr_yieldeds, 1);
	assert_int_equal(fake_yieldeds[0].ret, 1);
}

static void yielded_is_optional(void **state)
{
	struct kvm_yield_ops ops = fake_scripted;

	ops.yielded = NULL;
	assert_int_equal(fake_attach(&ops), 0);
	fake_make_all_ready();
	assert_true(fake_spin(0, true));
	assert_targets(1);
}

static void dy_eligible_is_written_back_only_if_changed(void **state)
{
	attach();
	fake_make_all_ready();
	fake_vcpu(1)->spin_loop.dy_eligible = true;
	fake_vcpu(3)->spin_loop.dy_eligible = true;
	fake_write_eligible[1] = 1;
	fake_write_eligible[2] = 1;
	fake_score_all(KVM_YIELD_REFUSE);
	assert_true(fake_spin(0, true));
	assert_true(fake_ranks[0].cand.dy_eligible);
	assert_false(fake_ranks[1].cand.dy_eligible);
	assert_true(fake_ranks[2].cand.dy_eligible);
	assert_int_equal(fake_vcpu(1)->fake_eligible_writes, 0);
	assert_int_equal(fake_vcpu(2)->fake_eligible_writes, 1);
	assert_int_equal(fake_vcpu(3)->fake_eligible_writes, 0);
	assert_true(fake_vcpu(2)->spin_loop.dy_eligible);

	fake_write_eligible[1] = -1;
	assert_true(fake_spin(0, true));
	assert_false(fake_vcpu(1)->spin_loop.dy_eligible);
}

static void spinner_is_not_eligible_afterwards(void **state)
{
	attach();
	fake_make_all_ready();
	fake_vcpu(0)->spin_loop.dy_eligible = true;
	assert_true(fake_spin(0, true));
	assert_false(fake_vcpu(0)->spin_loop.dy_eligible);
}

static void counters_count(void **state)
{
	struct kvm_yield_counters c;

	attach();
	fake_make_all_ready();
	fake_yield = yield_fails;
	assert_true(fake_spin(0, true));	/* 3 asked, 3 tried */
	fake_yield = NULL;
	assert_true(fake_spin(1, true));	/* 3 asked, 1 tried, 1 yield */
	fake_score_all(KVM_YIELD_REFUSE);
	assert_true(fake_spin(1, true));	/* 3 asked, refused, overruled */
	run_all();
	assert_true(fake_spin(1, true));	/* nobody to ask */
	c = fake_status().counters;
	assert_int_equal(c.spins, 4);
	assert_int_equal(c.candidates, 9);
	assert_int_equal(c.tries, 4);
	assert_int_equal(c.yields, 1);
	assert_int_equal(c.refused, 1);
	assert_int_equal(c.overruled, 1);
	assert_int_equal(c.bounded, 0);
}

/* Each size with nobody, one, eight and all ready: the best is found. */
static void any_size(void **state)
{
	static const unsigned int sizes[] = { 1, 2, 3, 63, 64, 65, 1024, 4096 };
	static const unsigned int readies[] = { 0, 1, 8, 5000 };
	unsigned int i, j, k, nr, ready;

	attach();
	for (i = 0; i < ARRAY_LEN(sizes); i++) {
		nr = sizes[i];
		for (j = 0; j < ARRAY_LEN(readies); j++) {
			ready = readies[j] < nr - 1 ? readies[j] : nr - 1;
			fake_make_vm(nr);
			fake_forget();
			fake_score_all(1);
			/* The last ones, so that the end of the map is used. */
			for (k = nr - ready; k < nr; k++)
				fake_make_ready(k);
			fake_score[nr - 1] = 2;
			assert_true(fake_spin(0, true));
			assert_int_equal(fake_nr_ranks, ready);
			if (ready)
				assert_targets((int)nr - 1);
			else
				assert_no_target();
		}
	}
}

/*
 * A vCPU can run, if user space guesses its file descriptor, before
 * KVM_CREATE_VCPU has counted it: the VM then has one vCPU fewer than it seems.
 */
static void spinner_that_is_not_counted_yet(void **state)
{
	attach();
	fake_make_vm(1);
	fake_vm->online_vcpus.counter = 0;
	fake_spin(0, true);
	assert_int_equal(fake_nr_ranks, 0);

	fake_make_vm(3);
	fake_make_all_ready();
	fake_vm->online_vcpus.counter = 2;
	assert_true(fake_spin(2, true));
	assert_targets(1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, fake_setup, fake_teardown)
		TEST(hook_is_off_without_a_policy),
		TEST(asks_in_round_robin_order_from_the_last_boosted),
		TEST(asks_only_about_those_that_wait),
		TEST(looks_again_whether_they_still_wait),
		TEST(tells_of_the_spinner),
		TEST(tells_the_facts),
		TEST(wait_is_known_only_since_the_hook_is_on),
		TEST(wait_survives_a_replacement),
		TEST(best_score_first),
		TEST(tries_the_best_three_in_order_of_score),
		TEST(equals_in_round_robin_order),
		TEST(wraps_at_the_last_index),
		TEST(take_ends_the_search),
		TEST(take_that_fails_goes_on_with_the_rest),
		TEST(yielded_learns_every_result),
		TEST(yielded_is_optional),
		TEST(dy_eligible_is_written_back_only_if_changed),
		TEST(spinner_is_not_eligible_afterwards),
		TEST(counters_count),
		TEST(any_size),
		TEST(spinner_that_is_not_counted_yet),
	};

	setenv("CMOCKA_MESSAGE_OUTPUT", "TAP", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
