// SPDX-License-Identifier: GPL-2.0
/*
 * Each policy with the real hook below it: who is yielded to, in what order, by
 * what was recorded when the vCPUs lost their CPUs; and who never is.
 */
#include "ranking.h"

/* As kvm_sched_out() does. */
static void preempt(unsigned int index, bool in_kernel, u32 out_facts, u32 hint,
		    u32 facts)
{
	struct kvm_vcpu *v = fake_vcpu(index);

	v->fake_preempted_in_kernel = in_kernel;
	v->fake_out_facts = out_facts;
	v->fake_hint = hint;
	v->fake_facts = facts;
	kvm_yield_note_preempted(v);
	v->preempted = true;
	v->ready = true;
}

/* As kvm_vcpu_wake_up() does. */
static void wake(unsigned int index, u32 facts)
{
	struct kvm_vcpu *v = fake_vcpu(index);

	v->fake_facts = facts;
	kvm_yield_note_ready(v);
	v->preempted = false;
	v->ready = true;
}

static int runs_already(struct kvm_vcpu *target)
{
	return 0;
}

struct expect {
	const struct kvm_yield_ops	*ops;
	int				nr;
	int				targets[12];
};

#define TARGETS(...)							\
	.targets = { __VA_ARGS__ }, .nr = ARRAY_LEN(((int[]){ __VA_ARGS__ }))

static void check_targets(const struct expect *e)
{
	int i;

	for (i = 0; i < e->nr || i < (int)fake_nr_targets; i++) {
		if (i < e->nr && i < (int)fake_nr_targets &&
		    e->targets[i] == fake_targets[i])
			continue;
		fail_msg("%s: yield %d of %u, wanted %d of %d", e->ops->name,
			 i < (int)fake_nr_targets ? fake_targets[i] : -1,
			 fake_nr_targets, i < e->nr ? e->targets[i] : -1, e->nr);
	}
}

static void one_of_each(void)
{
	preempt(1, false, 0, 0, 0);
	preempt(2, false, 0, 0, INT);
	fake_clock += 1000000;
	preempt(3, true, 0, 0, 0);
	wake(4, 0);
	fake_clock += 1000000;
	preempt(5, true, KVM_YIELD_HINT_VALID, LOCK, 0);
	preempt(6, true, KVM_YIELD_IRQS_OFF, 0, 0);
	fake_clock += 1000000;
	preempt(7, false, 0, 0, MINE);
	wake(8, KICKED);
	preempt(9, false, KVM_YIELD_HINT_VALID, LOCK, 0);
	preempt(10, false, 0, 0, IPI);
}

/*
 * All targets turn out to run already, so that the whole order is seen: whom it
 * takes at once, and then the three best of the rest.
 */
static void order_of_each_policy(void **state)
{
	static const struct expect expect[] = {
		{ &policy_builtin, TARGETS(3, 4, 5, 6, 8) },
		{ &policy_kernel_only, TARGETS(3, 4, 5, 6, 8) },
		{ &policy_two_pass, TARGETS(3, 4, 5, 6, 8, 2, 7, 10) },
		{ &policy_ipi_boost, TARGETS(2, 3, 4, 5, 6, 7, 8, 10) },
		{ &policy_ipi_pair, TARGETS(7, 2, 3, 4) },
		{ &policy_critical_section, TARGETS(5, 6, 7, 10, 2) },
		{ &policy_yield_policy, TARGETS(7, 5, 6) },
		{ &policy_never, .nr = 0 },
	};
	unsigned int i;

	fake_yield = runs_already;
	for (i = 0; i < ARRAY_LEN(expect); i++) {
		fake_make_vm(11);
		fake_forget();
		assert_int_equal(fake_attach(expect[i].ops), 0);
		one_of_each();
		fake_vcpu(0)->fake_in_kernel = true;
		assert_true(fake_spin(0, true));
		check_targets(&expect[i]);
		fake_detach();
	}
}

static void default_goes_on_with_the_rest(void **state)
{
	/* The best ones run; those behind them come next. */
	static const int running[] = { 7, 5, 6, 8, 2, 3, 4 };
	unsigned int i;

	fake_make_vm(11);
	assert_int_equal(fake_attach(&policy_yield_policy), 0);
	one_of_each();
	for (i = 0; i < ARRAY_LEN(running); i++) {
		fake_forget();
		assert_true(fake_spin(0, true));
		assert_targets(running[i]);
		fake_vcpu(running[i])->ready = false;
	}
	fake_forget();
	assert_true(fake_spin(0, true));
	assert_targets(10);
	fake_vcpu(10)->ready = false;
	/* In user mode, with nothing pending: nobody, whatever one of them says. */
	fake_forget();
	assert_true(fake_spin(0, true));
	assert_no_target();
	assert_true(fake_spin(0, false));
	assert_targets(1);
}

/* A spinner with interrupts off waits for a lock, and not for an answer. */
static void default_looks_at_the_spinner(void **state)
{
	fake_make_vm(11);
	assert_int_equal(fake_attach(&policy_yield_policy), 0);
	one_of_each();
	fake_vcpu(0)->fake_facts = KVM_YIELD_IRQS_OFF;
	assert_true(fake_spin(0, true));
	assert_targets(5);
}

/*
 * Halted, and with nothing to wake up for: no policy is even asked, however good
 * it would look. It is marked ready, as after a wakeup that came to nothing.
 */
static void no_halted_sibling(void **state)
{
	static const struct kvm_yield_ops *const policies[] = {
		&policy_builtin, &policy_kernel_only, &policy_two_pass,
		&policy_ipi_boost, &policy_ipi_pair, &policy_critical_section,
		&policy_yield_policy, &policy_random,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(policies); i++) {
		fake_make_vm(3);
		fake_forget();
		assert_int_equal(fake_attach(policies[i]), 0);
		wake(2, KICKED | MINE | APICV);
		fake_vcpu(2)->fake_blocking = true;
		assert_true(fake_spin(0, true));
		assert_true(fake_spin(0, false));
		assert_no_target();
		assert_int_equal(fake_status().counters.candidates, 0);

		/* A worse one that waits is found beside it. */
		preempt(1, true, 0, 0, 0);
		assert_true(fake_spin(0, true));
		assert_targets(1);
		fake_vcpu(1)->ready = false;

		/* And it is, as soon as it has something to do. */
		fake_vcpu(2)->fake_dy_runnable = true;
		assert_true(fake_spin(0, true));
		assert_targets(1, 2);
		fake_detach();
	}
}

/* A receiver in user mode and a lock holder, turn and turn about. */
static void receiver_in_user_mode_has_its_turn(void **state)
{
	fake_make_vm(3);
	assert_int_equal(fake_attach(&policy_ipi_boost), 0);
	preempt(1, false, 0, 0, INT);
	preempt(2, true, 0, 0, 0);
	assert_true(fake_spin(0, true));
	assert_true(fake_spin(0, true));
	assert_true(fake_spin(0, true));
	assert_targets(1, 2, 1);

	/* That is what it would not have with the other. */
	fake_make_vm(3);
	fake_forget();
	assert_int_equal(fake_replace(&policy_two_pass), 0);
	preempt(1, false, 0, 0, INT);
	preempt(2, true, 0, 0, 0);
	assert_true(fake_spin(0, true));
	assert_true(fake_spin(0, true));
	assert_targets(2, 2);
	fake_vcpu(2)->ready = false;
	assert_true(fake_spin(0, true));
	assert_targets(2, 2, 1);
}

static void default_prefers_the_longest_waiting(void **state)
{
	unsigned int i;

	fake_make_vm(6);
	assert_int_equal(fake_attach(&policy_yield_policy), 0);
	fake_make_all_ready();
	for (i = 1; i < 6; i++) {
		fake_clock += 1000000;
		kvm_yield_note_ready(fake_vcpu(i));
	}
	fake_vcpu(1)->fake_preempted_in_kernel = false;
	fake_vcpu(2)->fake_preempted_in_kernel = false;
	fake_vcpu(2)->fake_facts = INT;
	fake_vcpu(3)->spin_loop.in_spin_loop = true;
	fake_clock += 1000000;
	assert_true(fake_spin(0, true));
	assert_targets(2);
	/* It ran, and is the last of its class now; number 3 has its turn. */
	kvm_yield_note_ready(fake_vcpu(2));
	fake_clock += 1000000;
	assert_true(fake_spin(0, true));
	assert_targets(2, 3);
	fake_vcpu(4)->ready = false;
	assert_true(fake_spin(0, true));
	assert_targets(2, 3, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, ranking_setup, fake_teardown)
		TEST(order_of_each_policy),
		TEST(default_goes_on_with_the_rest),
		TEST(default_looks_at_the_spinner),
		TEST(no_halted_sibling),
		TEST(receiver_in_user_mode_has_its_turn),
		TEST(default_prefers_the_longest_waiting),
	};

	setenv("CMOCKA_MESSAGE_OUTPUT", "TAP", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
