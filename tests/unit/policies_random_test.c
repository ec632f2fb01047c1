// SPDX-License-Identifier: GPL-2.0
/*
 * Each policy in random states, also such as the hook never shows: is the score
 * valid, is the order that of a model written from docs/policies.md, and does it
 * depend on nothing else? And the default's parameters at their extremes.
 *
 * KVMYIELD_SEED chooses other random states, KVMYIELD_STATES how many.
 */
#include "ranking.h"

#define REFUSED	(-1)

static u64 random_state;

/* xorshift64*: the same everywhere, unlike rand(). */
static u32 rnd(u32 below)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (u32)((random_state * 0x2545f4914f6cdd1dull) >> 33) % below;
}

static unsigned int env_number(const char *name, unsigned int otherwise)
{
	const char *value = getenv(name);

	return value ? strtoul(value, NULL, 0) : otherwise;
}

static u64 random_wait(void)
{
	static const u64 special[] = {
		0, 1, 4095, 4096, 1000000, (1ull << 34) - 4097, (1ull << 34) - 4096,
		1ull << 34, 1ull << 62, INT64_MAX, UINT64_MAX,
	};

	return rnd(3) ? (u64)rnd(1u << 30) << rnd(12) :
			special[rnd(ARRAY_LEN(special))];
}

static struct kvm_yield_candidate random_candidate(void)
{
	struct kvm_yield_candidate cand = {
		.facts = rnd(1u << KVM_YIELD_MAX_FACTS) & ~SPINNING,
		.hint = rnd(2) ? 1u << rnd(32) : rnd(1u << 31) * 2,
		.wait_ns = random_wait(),
		.index = rnd(64),
		.streak = rnd(KVM_YIELD_MAX_STREAK + 1),
	};

	/* Few facts as often as many. */
	if (rnd(2))
		cand.facts &= rnd(1u << KVM_YIELD_MAX_FACTS);
	if (rnd(2))
		cand.facts |= KVM_YIELD_HINT_VALID | KVM_YIELD_KERNEL;
	return cand;
}

/* What the states come to, in words. */
struct known {
	bool	wants_kernel, irqs_off_spinner;
	bool	in_kernel, woken, critical, off, kicked, interrupt, apicv, ipi, mine;
};

static struct known know(enum spinner spinner, const struct kvm_yield_candidate *c)
{
	u32 depth = c->hint % 256, softirq = c->hint / 256 % 256,
	    hardirq = c->hint / 65536 % 16, nmi = c->hint / 1048576 % 16;
	bool linux_says = depth + softirq + hardirq + nmi > 0;
	struct known k = {
		.wants_kernel = spinner != IN_USER,
		.irqs_off_spinner = spinner == IRQS_OFF,
		.in_kernel = (c->facts >> 1) % 2,
		.woken = !(c->facts % 2),
		.interrupt = (c->facts >> 2) % 2,
		.apicv = (c->facts >> 3) % 2,
		.off = (c->facts >> 6) % 2,
		.ipi = (c->facts >> 8) % 2,
		.mine = (c->facts >> 9) % 2,
		.kicked = (c->facts >> 10) % 2,
	};

	k.critical = (c->facts >> 7) % 2 && k.in_kernel && linux_says;
	return k;
}

static int model_builtin(const struct known *k)
{
	return !k->wants_kernel || k->in_kernel || k->woken || k->apicv ? 0 : REFUSED;
}

static int model_kernel_only(const struct known *k)
{
	return !k->wants_kernel || k->in_kernel || k->woken ? 0 : REFUSED;
}

static int model_two_pass(const struct known *k)
{
	if (!k->wants_kernel || k->in_kernel || k->woken)
		return 1;
	return k->interrupt ? 0 : REFUSED;
}

static int model_ipi_boost(const struct known *k)
{
	return !k->wants_kernel || k->in_kernel || k->woken || k->interrupt ? 0 : REFUSED;
}

static int model_ipi_pair(const struct known *k)
{
	return k->mine ? 1 : model_ipi_boost(k);
}

static int model_critical_section(const struct known *k)
{
	if (k->critical || k->off)
		return 2;
	if (k->ipi || k->mine)
		return 1;
	return model_ipi_boost(k);
}

/* Apart from the time waited. */
static int model_default(const struct known *k)
{
	if (k->mine && !k->irqs_off_spinner)
		return 4;
	if (k->critical || k->off)
		return 3;
	if (k->kicked)
		return 2;
	if (k->in_kernel || k->woken || k->ipi || k->interrupt)
		return 1;
	return k->wants_kernel ? REFUSED : 0;
}

static const struct model {
	const struct kvm_yield_ops	*ops;
	int				(*class)(const struct known *k);
	bool				by_wait;
} models[] = {
	{ &policy_builtin, model_builtin },
	{ &policy_kernel_only, model_kernel_only },
	{ &policy_two_pass, model_two_pass },
	{ &policy_ipi_boost, model_ipi_boost },
	{ &policy_ipi_pair, model_ipi_pair },
	{ &policy_critical_section, model_critical_section },
	{ &policy_yield_policy, model_default, true },
};

static int compare(u64 a, u64 b)
{
	return (a > b) - (a < b);
}

/* How two candidates must compare: 4 us more or less, up to 17 s, are seen. */
static int model_compare(const struct model *m, int class_a, int class_b,
			 u64 wait_a, u64 wait_b)
{
	u64 most = (1ull << 22) - 1;

	if (class_a != class_b || !m->by_wait || class_a == REFUSED)
		return (class_a > class_b) - (class_a < class_b);
	wait_a /= 4096;
	wait_b /= 4096;
	return compare(wait_a < most ? wait_a : most, wait_b < most ? wait_b : most);
}

static int sign(s32 a, s32 b)
{
	/* All refusals are one. */
	a = a < 0 ? REFUSED : a;
	b = b < 0 ? REFUSED : b;
	return (a > b) - (a < b);
}

static void orders_are_those_of_the_model(void **state)
{
	unsigned int states = env_number("KVMYIELD_STATES", 100000);
	unsigned int seed = env_number("KVMYIELD_SEED", 20210416);
	unsigned int i, seen[ARRAY_LEN(models)][6] = { 0 };
	struct kvm_yield_candidate a, b;
	int class_a, class_b;
	const struct model *m;
	enum spinner spinner;
	struct known k;
	s32 score_a, score_b;

	random_state = 0x9e3779b97f4a7c15ull * (seed + 1ull);
	for (i = 0; i < states; i++) {
		m = &models[i % ARRAY_LEN(models)];
		spinner = rnd(3);
		a = random_candidate();
		b = random_candidate();
		if (!rnd(4))
			b.wait_ns = a.wait_ns;
		k = know(spinner, &a);
		class_a = m->class(&k);
		k = know(spinner, &b);
		class_b = m->class(&k);
		score_a = rank(m->ops, spinner, &a);
		score_b = rank(m->ops, spinner, &b);
		seen[m - models][class_a + 1]++;
		if (class_a == REFUSED ? score_a >= 0 : score_a < 0)
			fail_msg("%s: score %d for facts %x, hint %x", m->ops->name,
				 score_a, a.facts, a.hint);
		if (sign(score_a, score_b) !=
		    model_compare(m, class_a, class_b, a.wait_ns, b.wait_ns))
			fail_msg("%s, spinner %d: facts %x hint %x wait %llu: %d; facts %x hint %x wait %llu: %d",
				 m->ops->name, spinner, a.facts, a.hint,
				 (unsigned long long)a.wait_ns, score_a, b.facts,
				 b.hint, (unsigned long long)b.wait_ns, score_b);
	}
	/* Every class came up, or less is shown than said. */
	for (i = 0; i < ARRAY_LEN(models); i++)
		assert_true(seen[i][0] && seen[i][1]);
	for (i = 0; i < 6; i++)
		assert_true(i == 5 || seen[6][i]);
	print_message("#  seed %u: %u pairs\n", seed, states);
}

/* The same question gets the same answer, whoever the vCPU is and was. */
static void nothing_else_counts(void **state)
{
	const struct kvm_yield_ops *ops;
	struct kvm_yield_candidate a, b;
	enum spinner spinner;
	unsigned int i;

	random_state = 1;
	for (i = 0; i < 20000; i++) {
		ops = models[i % ARRAY_LEN(models)].ops;
		spinner = rnd(3);
		a = random_candidate();
		b = a;
		b.index = rnd(64);
		b.streak = rnd(KVM_YIELD_MAX_STREAK + 1);
		b.dy_eligible = rnd(2);
		/* Facts that have no meaning yet. */
		b.facts ^= 0xf000;
		assert_int_equal(rank(ops, spinner, &a), rank(ops, spinner, &b));
		if (!(a.facts & KVM_YIELD_HINT_VALID))
			b.hint = rnd(1u << 31);
		assert_int_equal(rank(ops, spinner, &a), rank(ops, spinner, &b));
	}
}

/* It never takes at once: it wants the best of all. */
static void default_score_is_valid(void)
{
	struct kvm_yield_candidate cand;
	enum spinner spinner;
	struct known k;
	unsigned int i;
	s32 score;

	for (i = 0; i < 3000; i++) {
		spinner = rnd(3);
		cand = random_candidate();
		k = know(spinner, &cand);
		score = rank(&policy_yield_policy, spinner, &cand);
		assert_true(score < KVM_YIELD_TAKE);
		/* Whom it refuses does not depend on the parameters. */
		assert_int_equal(score < 0, model_default(&k) == REFUSED);
	}
}

static void any_parameters_give_valid_scores(void **state)
{
	static const u8 extremes[] = { 0, 1, 127, 128, 255 };
	volatile u8 *weight[] = {
		&ipi_from_spinner, &critical, &kicked, &kernel, &ipi, &interrupt,
	};
	const u8 defaults[] = { 4, 3, 2, 1, 1, 1 };
	struct kvm_yield_candidate worst;
	unsigned int i, j;

	/* What the documentation says. */
	for (i = 0; i < ARRAY_LEN(weight); i++)
		assert_int_equal(*weight[i], defaults[i]);
	assert_true(longest_first);

	random_state = 2;
	for (j = 0; j < 100; j++) {
		for (i = 0; i < ARRAY_LEN(weight); i++)
			*weight[i] = j < ARRAY_LEN(extremes) ? extremes[j] : rnd(256);
		longest_first = rnd(2);
		default_score_is_valid();
	}
	/* The highest there is. */
	ipi_from_spinner = 255;
	longest_first = true;
	worst = (struct kvm_yield_candidate) C(USER | MINE, 0);
	worst.wait_ns = UINT64_MAX;
	assert_int_equal(rank(&policy_yield_policy, IN_KERNEL, &worst), (1 << 30) - 1);
}

/* However long it waited, a vCPU stays in its class. */
static void no_wait_leaves_its_class(void **state)
{
	static const u64 waits[] = {
		0, 1, 4095, 4096, 1000000, 1000000000, (1ull << 34) - 4097,
		(1ull << 34) - 4096, (1ull << 34) - 1, 1ull << 34, 1ull << 44,
		1ull << 62, 1ull << 63, UINT64_MAX - 1, UINT64_MAX,
	};
	static const u32 classes[] = { USER, USER | INT, USER | KICKED, USER | OFF, USER | MINE };
	struct kvm_yield_candidate cand;
	s32 score, last, top = -1;
	unsigned int i, j;

	for (i = 0; i < ARRAY_LEN(classes); i++) {
		last = top;
		for (j = 0; j < ARRAY_LEN(waits); j++) {
			cand = (struct kvm_yield_candidate) {
				.facts = classes[i], .wait_ns = waits[j],
			};
			score = rank(&policy_yield_policy, IN_USER, &cand);
			assert_true(score > top && score >= last);
			last = score;
		}
		top = last;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, ranking_setup, fake_teardown)
		TEST(orders_are_those_of_the_model),
		TEST(nothing_else_counts),
		TEST(any_parameters_give_valid_scores),
		TEST(no_wait_leaves_its_class),
	};

	setenv("CMOCKA_MESSAGE_OUTPUT", "TAP", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
