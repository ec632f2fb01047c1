// SPDX-License-Identifier: GPL-2.0
/*
 * In what order each policy would have the candidates, from tables: the programs
 * of bpf/ as native functions, without the hook.
 */
#include "fake_kvm.h"

#define MAX_CANDS	8

extern struct kvm_yield_ops policy_builtin, policy_never, policy_random,
			    policy_yield_policy;

#define WAITING		KVM_YIELD_WAIT_VALID
#define USER		(KVM_YIELD_PREEMPTED | WAITING)
#define KERNEL		(USER | KVM_YIELD_KERNEL)
#define USER_IRQ	(USER | KVM_YIELD_INTERRUPT)
#define USER_APICV	(USER_IRQ | KVM_YIELD_APICV_INTERRUPT)
#define WOKEN		WAITING
#define SPINNING	KVM_YIELD_SPINNING

struct row {
	const char			*what;
	bool				kernel_only;
	struct kvm_yield_candidate	cand[MAX_CANDS];
	unsigned int			nr;
	/* The candidates that are accepted, the best one first. */
	const char			*order;
};

#define CANDS(...)							\
	.cand = { __VA_ARGS__ },					\
	.nr = ARRAY_LEN(((struct kvm_yield_candidate[]){ __VA_ARGS__ }))
#define C(f, ms)	{ .facts = (f), .wait_ns = (ms) * 1000000ull }
#define ELIGIBLE(f, ms)	{ .facts = (f), .wait_ns = (ms) * 1000000ull, .dy_eligible = true }

static const struct row default_rows[] = {
	{ "kernel mode, then an interrupt; plain user mode is refused", true,
	  CANDS(C(USER, 9), C(USER_IRQ, 1), C(KERNEL, 1), C(USER_APICV, 3)), "2 3 1" },
	{ "in user mode itself it may wait for user mode", false,
	  CANDS(C(USER, 9), C(USER_IRQ, 1), C(KERNEL, 1)), "2 1 0" },
	{ "a user-mode vCPU with an interrupt is not second to a plain one", false,
	  CANDS(C(USER, 1000000), C(USER_IRQ, 0)), "1 0" },
	{ "woken from a halt counts as kernel mode", true,
	  CANDS(C(USER, 9), C(WOKEN, 2), C(KERNEL, 1)), "1 2" },
	{ "the longest waiting of a class", true,
	  CANDS(C(KERNEL, 1), C(KERNEL, 3), C(KERNEL, 2)), "1 2 0" },
	{ "the longest waiting with an interrupt", true,
	  CANDS(C(USER_IRQ, 1), C(USER_IRQ, 3), C(USER_APICV, 2)), "1 2 0" },
	{ "an unknown wait is none, and keeps its class", true,
	  CANDS(C(KERNEL & ~WAITING, 0), C(KERNEL, 1), C(USER_IRQ, 5)), "1 0 2" },
	{ "equals keep their turns", true,
	  CANDS(C(KERNEL, 2), C(KERNEL, 2), C(KERNEL, 2)), "0 1 2" },
	{ "spinning ones are passed over until their turn", true,
	  CANDS(C(KERNEL | SPINNING, 9), ELIGIBLE(KERNEL | SPINNING, 1),
		C(USER_IRQ, 0)), "1 2" },
};

static const struct row builtin_rows[] = {
	{ "takes all in turn from user mode", false,
	  CANDS(C(USER, 9), C(KERNEL, 1), C(WOKEN, 2)), "0 1 2" },
	{ "kernel mode, hardware's interrupts, and woken ones", true,
	  CANDS(C(USER, 9), C(USER_APICV, 1), C(KERNEL, 5), C(WOKEN, 2)), "1 2 3" },
	{ "does not see an interrupt that hardware does not hold", true,
	  CANDS(C(USER_IRQ, 9)), "" },
	{ "spinning ones are passed over until their turn", true,
	  CANDS(C(KERNEL | SPINNING, 9), ELIGIBLE(KERNEL | SPINNING, 1)), "1" },
};

static const struct row never_rows[] = {
	{ "nobody", false,
	  CANDS(C(USER, 9), C(KERNEL, 1), C(WOKEN, 2), C(USER_APICV, 1)), "" },
};

static s32 rank(const struct kvm_yield_ops *ops, bool kernel_only,
		struct kvm_yield_candidate *cand)
{
	struct kvm_yield_spin spin = {
		.nr_vcpus = 64, .nr_ready = 8, .kernel_only = kernel_only,
	};

	return ops->rank(&spin, cand);
}

/* Best first, equals as they come: what the hook makes of the scores. */
static void sort(const s32 *score, unsigned int nr, char *order, size_t size)
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

static void check_rows(const struct kvm_yield_ops *ops, const struct row *rows,
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
			score[j] = rank(ops, rows[i].kernel_only, &cand);
		}
		sort(score, rows[i].nr, order, sizeof(order));
		if (!strcmp(order, rows[i].order))
			continue;
		print_message("#  %s, %s: got \"%s\", not \"%s\"\n", ops->name,
			      rows[i].what, order, rows[i].order);
		bad++;
	}
	assert_int_equal(bad, 0);
}

static void default_orders(void **state)
{
	check_rows(&policy_yield_policy, default_rows, ARRAY_LEN(default_rows));
}

static void builtin_orders(void **state)
{
	check_rows(&policy_builtin, builtin_rows, ARRAY_LEN(builtin_rows));
}

static void never_chooses_nobody(void **state)
{
	check_rows(&policy_never, never_rows, ARRAY_LEN(never_rows));
}

/* However long it waited, a vCPU stays in its class, and is never just taken. */
static void no_wait_leaves_its_class(void **state)
{
	static const u64 waits[] = {
		0, 1, 999, 1000, 1000000, 1000000000, 0xffffffffull * 1000,
		((1ull << 29) - 2) * 1000, ((1ull << 29) - 1) * 1000,
		(1ull << 29) * 1000, ((1ull << 30) - 1) * 1000,
		(1ull << 30) * 1000, (1ull << 31) * 1000, (1ull << 32) * 1000,
		1ull << 62, 1ull << 63, UINT64_MAX / 1000, UINT64_MAX - 1,
		UINT64_MAX,
	};
	static const u32 classes[] = { USER, USER_IRQ, KERNEL };
	struct kvm_yield_candidate cand;
	s32 score, last, top = -1, class_top;
	unsigned int i, j;

	for (i = 0; i < ARRAY_LEN(classes); i++) {
		class_top = -1;
		last = -1;
		for (j = 0; j < ARRAY_LEN(waits); j++) {
			cand = (struct kvm_yield_candidate) {
				.facts = classes[i], .wait_ns = waits[j],
			};
			score = rank(&policy_yield_policy, false, &cand);
			assert_true(score > top);
			assert_true(score < KVM_YIELD_TAKE);
			/* Longer is never worse; the table is not in order. */
			if (j && waits[j] >= waits[j - 1])
				assert_true(score >= last);
			last = score;
			if (score > class_top)
				class_top = score;
		}
		top = class_top;
	}
}

static void passed_over_every_other_time(void **state)
{
	const struct kvm_yield_ops *ops[] = { &policy_builtin, &policy_yield_policy };
	struct kvm_yield_candidate cand = { .facts = KERNEL | SPINNING };
	unsigned int i, j;
	s32 score;

	for (i = 0; i < ARRAY_LEN(ops); i++) {
		cand.dy_eligible = false;
		for (j = 0; j < 10; j++) {
			score = rank(ops[i], true, &cand);
			assert_int_equal(score >= 0, j % 2);
			assert_int_equal(cand.dy_eligible, j % 2 == 0);
		}
	}
}

/* A look that ends in a refusal for another reason does not use up a turn. */
static void refused_ones_keep_their_turn(void **state)
{
	const struct kvm_yield_ops *ops[] = { &policy_builtin, &policy_yield_policy };
	struct kvm_yield_candidate cand = { .facts = USER | SPINNING };
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(ops); i++) {
		assert_true(rank(ops[i], true, &cand) < 0);
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
		score = rank(&policy_random, true, &cand);
		assert_true(score >= last && score >= 0);
		assert_true(score < KVM_YIELD_TAKE);
		last = score;
	}
	assert_true(last > 0);
}

/* With the hook below it: all three classes, and who waited longest. */
static void default_through_the_hook(void **state)
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
	fake_vcpu(2)->fake_facts = KVM_YIELD_INTERRUPT;
	fake_vcpu(3)->spin_loop.in_spin_loop = true;
	fake_clock += 1000000;
	assert_true(fake_spin(0, true));
	assert_targets(4);
	/* It ran, and is the last of its class now; number 3 has its turn. */
	kvm_yield_note_ready(fake_vcpu(4));
	fake_clock += 1000000;
	assert_true(fake_spin(0, true));
	assert_targets(4, 3);
	fake_vcpu(4)->ready = false;
	fake_vcpu(5)->ready = false;
	assert_true(fake_spin(0, true));
	assert_targets(4, 3, 2);
}

static void names(void **state)
{
	assert_string_equal(policy_builtin.name, "builtin");
	assert_string_equal(policy_never.name, "never");
	assert_string_equal(policy_random.name, "random");
	assert_string_equal(policy_yield_policy.name, "yield_policy");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, fake_setup, fake_teardown)
		TEST(default_orders),
		TEST(builtin_orders),
		TEST(never_chooses_nobody),
		TEST(no_wait_leaves_its_class),
		TEST(passed_over_every_other_time),
		TEST(refused_ones_keep_their_turn),
		TEST(random_never_takes),
		TEST(default_through_the_hook),
		TEST(names),
	};

	setenv("CMOCKA_MESSAGE_OUTPUT", "TAP", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
