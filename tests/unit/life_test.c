// SPDX-License-Identifier: GPL-2.0
/*
 * A policy's life: attached, replaced, detached and ejected, at every moment at
 * which a spin may be under way. Memory that is used too long is found by the
 * address sanitizer.
 */
#include "fake_kvm.h"

static unsigned int other_ranks, other_yieldeds;

static s32 other_rank(const struct kvm_yield_spin *spin,
		      struct kvm_yield_candidate *cand)
{
	other_ranks++;
	return 0;
}

static void other_yielded(const struct kvm_yield_spin *spin,
			  const struct kvm_yield_candidate *cand, int ret)
{
	other_yieldeds++;
}

static const struct kvm_yield_ops other = {
	.rank = other_rank,
	.yielded = other_yielded,
	.name = "other",
};

static void attach(void)
{
	assert_int_equal(fake_attach(&fake_scripted), 0);
}

static int setup(void **state)
{
	other_ranks = 0;
	other_yieldeds = 0;
	return fake_setup(state);
}

static void replace_by_other(void)
{
	assert_int_equal(fake_replace(&other), 0);
}

static void detach_and_attach_other(void)
{
	fake_detach();
	assert_int_equal(fake_attach(&other), 0);
}

static void one_at_a_time(void **state)
{
	attach();
	assert_int_equal(fake_attach(&other), -EBUSY);
	assert_string_equal(fake_status().name, "scripted");
	fake_detach();
	assert_int_equal(fake_status().id, 0);
	assert_int_equal(fake_attach(&other), 0);
}

static void not_without_a_vendor_module(void **state)
{
	static struct module going = { .going = true };

	kvm_yield_clear_vendor();
	assert_int_equal(fake_attach(&other), -ENODEV);
	kvm_yield_set_vendor(&going);
	assert_int_equal(fake_attach(&other), -ENODEV);
	assert_int_equal(kvm_yield_enabled.key.enabled, 0);
	/* Built in. */
	kvm_yield_set_vendor(NULL);
	assert_int_equal(fake_attach(&other), 0);
}

static void holds_the_vendor_module(void **state)
{
	static struct module vendor;

	kvm_yield_set_vendor(&vendor);
	attach();
	assert_int_equal(vendor.refs, 1);
	replace_by_other();
	assert_int_equal(vendor.refs, 1);
	fake_detach();
	assert_int_equal(vendor.refs, 0);
}

static void status_tells_what_is_attached(void **state)
{
	struct kvm_yield_status s;
	u64 id;

	s = fake_status();
	assert_int_equal(s.id, 0);
	assert_int_equal(s.budget, 10000);
	assert_int_equal(s.max_streak, KVM_YIELD_MAX_STREAK);
	attach();
	fake_clock += 12345;
	s = fake_status();
	id = s.id;
	assert_int_not_equal(id, 0);
	assert_int_equal(s.age_ns, 12345);
	assert_int_equal(s.link_id, 77);
	assert_string_equal(s.name, "scripted");
	assert_int_equal(s.facts, KVM_YIELD_PREEMPTED | KVM_YIELD_KERNEL |
		KVM_YIELD_INTERRUPT | KVM_YIELD_SPINNING | KVM_YIELD_WAIT_VALID |
		KVM_YIELD_WOKEN);
	/* The clock of this CPU may be behind. */
	fake_clock -= 20000;
	assert_int_equal(fake_status().age_ns, 0);
	fake_clock += 20000;
	replace_by_other();
	s = fake_status();
	assert_int_equal(s.id, id + 1);
	assert_int_equal(s.age_ns, 0);
	assert_string_equal(s.name, "other");
}

static void a_replacement_begins_a_new_account(void **state)
{
	attach();
	fake_make_all_ready();
	assert_true(fake_spin(0, true));
	replace_by_other();
	assert_int_equal(fake_status().counters.spins, 0);
	assert_true(fake_spin(0, true));
	assert_int_equal(fake_status().counters.spins, 1);
	assert_int_equal(other_ranks, 3);
}

static int replace_meanwhile(struct kvm_vcpu *target)
{
	replace_by_other();
	return 1;
}

static int reattach_meanwhile(struct kvm_vcpu *target)
{
	detach_and_attach_other();
	return -ESRCH;
}

static int detach_meanwhile(struct kvm_vcpu *target)
{
	fake_detach();
	return 0;
}

static int replace_meanwhile_to_no_effect(struct kvm_vcpu *target)
{
	replace_by_other();
	return 0;
}

/* The one that comes during a yield hears nothing of it, and decides nothing. */
static void replaced_during_a_yield(void **state)
{
	int (*const meanwhile[])(struct kvm_vcpu *target) = {
		replace_meanwhile, reattach_meanwhile, detach_meanwhile,
		replace_meanwhile_to_no_effect,
	};
	unsigned int i, take;

	for (i = 0; i < 2 * ARRAY_LEN(meanwhile); i++) {
		take = i % 2;
		fake_forget();
		attach();
		fake_make_vm(4);
		fake_make_all_ready();
		fake_score_all(take ? KVM_YIELD_TAKE : 1);
		fake_yield = meanwhile[i / 2];
		assert_true(fake_spin(0, true));
		assert_targets(1);
		assert_int_equal(fake_nr_yieldeds, 0);
		assert_int_equal(other_yieldeds, 0);
		assert_int_equal(other_ranks, 0);
		assert_int_equal(fake_status().counters.yields, 0);
		/* A success counts for the VM, whoever chose it. */
		assert_int_equal(fake_vm->last_boosted_vcpu, i / 2 == 0);
		fake_detach();
	}
}

static s32 replaced_while_ranking(const struct kvm_yield_spin *spin,
				  struct kvm_yield_candidate *cand)
{
	if (cand->index == 1)
		fake_other_cpu(replace_by_other);
	return cand->index;
}

/* A reader keeps the old policy until it leaves: it finishes its ranking. */
static void replaced_while_ranking_is_still_valid(void **state)
{
	const struct kvm_yield_ops ops = {
		.rank = replaced_while_ranking, .name = "old",
	};

	assert_int_equal(fake_attach(&ops), 0);
	fake_make_all_ready();
	assert_true(fake_spin(0, true));
	assert_targets(3);
	assert_int_equal(other_ranks, 0);
	assert_int_equal(other_yieldeds, 0);
	assert_string_equal(fake_status().name, "other");
	assert_int_equal(fake_status().counters.spins, 0);
}

static void detached_in_the_pause_between_batches(void **state)
{
	void (*const meanwhile[])(void) = {
		fake_detach, replace_by_other, detach_and_attach_other,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(meanwhile); i++) {
		fake_forget();
		attach();
		fake_make_vm(200);
		fake_make_all_ready();
		fake_resched = meanwhile[i];
		assert_true(fake_spin(0, true));
		assert_int_equal(fake_nr_ranks, 64);
		assert_int_equal(fake_nr_resched, 1);
		assert_no_target();
		assert_int_equal(other_ranks, 0);
		fake_resched = NULL;
		fake_detach();
	}
}

static void others_run_between_batches_of_64(void **state)
{
	static const struct {
		unsigned int	nr, pauses;
	} want[] = {
		{ 64, 0 }, { 65, 0 }, { 66, 1 }, { 129, 1 }, { 130, 2 },
		{ 1024, 15 },
	};
	unsigned int i;

	attach();
	fake_score_all(KVM_YIELD_REFUSE);
	for (i = 0; i < ARRAY_LEN(want); i++) {
		fake_make_vm(want[i].nr);
		fake_make_all_ready();
		fake_forget();
		assert_true(fake_spin(0, true));
		assert_int_equal(fake_nr_ranks, want[i].nr - 1);
		assert_int_equal(fake_nr_resched, want[i].pauses);
	}
}

static void eject(void)
{
	fake_score_all(KVM_YIELD_REFUSE);
	kvm_yield_refusal_budget = 2;
	assert_true(fake_spin(0, true));
	assert_false(fake_spin(0, true));
	assert_int_equal(fake_ejects, 1);
}

static void ejected_policies_are_reported(void **state)
{
	struct kvm_yield_status s;
	u64 id;

	attach();
	fake_make_all_ready();
	id = fake_status().id;
	assert_null(kvm_yield_ejected_link());
	eject();
	assert_non_null(kvm_yield_ejected_link());
	/* Its link is about to go: a new one would go with it. */
	assert_int_equal(fake_replace(&other), -ESTALE);
	assert_int_equal(fake_attach(&other), -EBUSY);
	fake_detach();
	s = fake_status();
	assert_int_equal(s.id, 0);
	assert_int_equal(s.exit_id, id);
	assert_int_equal(s.exit_link_id, 77);
	assert_int_equal(s.exit_reason, KVM_YIELD_EXIT_REFUSALS);
	assert_int_equal(s.exit_refusals, 2);
	assert_string_equal(s.exit_name, "scripted");
	assert_int_equal(fake_warnings, 1);
	assert_null(kvm_yield_ejected_link());
	/* The next one is not to blame. */
	assert_int_equal(fake_attach(&other), 0);
	assert_true(fake_spin(0, true));
	fake_detach();
	assert_int_equal(fake_status().exit_id, id);
	assert_int_equal(fake_warnings, 1);
}

static void replacing_nothing_is_refused(void **state)
{
	assert_int_equal(fake_replace(&other), -ESTALE);
}

/* Another spinner of the VM finds the budget used up first. */
static void spin_elsewhere(void)
{
	fake_spin(1, true);
}

static s32 refuse_while_others_do(const struct kvm_yield_spin *spin,
				  struct kvm_yield_candidate *cand)
{
	if (spin->index == 0 && cand->index == 1)
		fake_other_cpu(spin_elsewhere);
	return KVM_YIELD_REFUSE;
}

static void ejected_once_by_two_spinners(void **state)
{
	const struct kvm_yield_ops ops = {
		.rank = refuse_while_others_do, .name = "old",
	};

	kvm_yield_refusal_budget = 1;
	assert_int_equal(fake_attach(&ops), 0);
	fake_make_all_ready();
	assert_false(fake_spin(0, true));
	assert_int_equal(fake_status().counters.overruled, 2);
	assert_int_equal(fake_ejects, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, fake_teardown)
		TEST(one_at_a_time),
		TEST(not_without_a_vendor_module),
		TEST(holds_the_vendor_module),
		TEST(status_tells_what_is_attached),
		TEST(a_replacement_begins_a_new_account),
		TEST(replaced_during_a_yield),
		TEST(replaced_while_ranking_is_still_valid),
		TEST(detached_in_the_pause_between_batches),
		TEST(others_run_between_batches_of_64),
		TEST(ejected_policies_are_reported),
		TEST(replacing_nothing_is_refused),
		TEST(ejected_once_by_two_spinners),
	};

	setenv("CMOCKA_MESSAGE_OUTPUT", "TAP", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
