// SPDX-License-Identifier: GPL-2.0
/*
 * Does the hook with bpf/builtin.bpf.c attached make the choices of Linux 6.12?
 * A model of what that kernel does, written from its behaviour, decides the same
 * random spins; targets, turns and eligibility must come out the same.
 *
 * KVMYIELD_SEED chooses other random states, KVMYIELD_STATES how many.
 */
#include "fake_kvm.h"

#define MAX_VCPUS	64
#define SPINS		12
#define MAX_TARGETS	(2 * MAX_VCPUS)

extern struct kvm_yield_ops policy_builtin, policy_yield_policy;

struct model_vcpu {
	bool	waits;		/* ready, and not halted with nothing to do */
	bool	useful;		/* where only kernel mode will do */
	bool	spins;
	bool	eligible;
};

struct model {
	struct model_vcpu	vcpu[MAX_VCPUS];
	int			nr;
	int			last;
	int			targets[MAX_TARGETS];
	int			nr_targets;
};

static u64 random_state;
static int results[MAX_TARGETS];

/* xorshift64*: the same everywhere, unlike rand(). */
static u32 rnd(u32 below)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (u32)((random_state * 0x2545f4914f6cdd1dull) >> 33) % below;
}

static bool percent(u32 p)
{
	return rnd(100) < p;
}

/* A spinning vCPU is passed over and taken in turn; looking is what counts. */
static bool model_has_turn(struct model_vcpu *v)
{
	bool turn = v->eligible;

	if (!v->spins)
		return true;
	v->eligible = !turn;
	return turn;
}

/*
 * One leg of the way round: from the one after the last boosted to the highest
 * index, or from 0 to the last boosted. Returns the result of the last yield
 * tried in it, 0 if none was.
 */
static int model_leg(struct model *m, int from, int to, int me, bool kernel_only,
		     int *failures)
{
	int i, result = 0;

	for (i = from; i <= to; i++) {
		struct model_vcpu *v = &m->vcpu[i];

		if (i == me || !v->waits || (kernel_only && !v->useful))
			continue;
		if (!model_has_turn(v))
			continue;
		result = results[m->nr_targets];
		m->targets[m->nr_targets++] = i;
		if (result > 0)
			m->last = i;
		if (result > 0 || (result < 0 && ++*failures == 3))
			break;
	}
	return result;
}

/*
 * The second leg is not begun after a success, and neither if the very last
 * yield of the first leg failed with an error.
 */
static void model_spin(struct model *m, int me, bool kernel_only)
{
	int failures = 0, last = m->last;

	m->nr_targets = 0;
	if (!model_leg(m, last + 1, m->nr - 1, me, kernel_only, &failures))
		model_leg(m, 0, last, me, kernel_only, &failures);
	m->vcpu[me].eligible = false;
}

static int scripted_result(struct kvm_vcpu *target)
{
	return results[fake_nr_targets - 1];
}

/* A crowd of one mind, or a mixed one. */
static void random_vcpus(int nr)
{
	u32 ready = rnd(101), preempted = rnd(101), kernel = rnd(101),
	    apicv = rnd(40), spinning = rnd(101), eligible = rnd(101),
	    blocking = rnd(50);
	int i;

	for (i = 0; i < nr; i++) {
		struct kvm_vcpu *v = fake_vcpu(i);

		v->ready = percent(ready);
		v->preempted = percent(preempted);
		v->fake_in_kernel = percent(50);
		v->fake_preempted_in_kernel = percent(kernel);
		v->fake_facts = percent(apicv) ?
			KVM_YIELD_APICV_INTERRUPT | KVM_YIELD_INTERRUPT :
			percent(20) ? KVM_YIELD_INTERRUPT : 0;
		v->fake_blocking = percent(blocking);
		v->fake_dy_runnable = percent(50);
		v->spin_loop.in_spin_loop = percent(spinning);
		v->spin_loop.dy_eligible = percent(eligible);
	}
}

static void random_change(int nr)
{
	struct kvm_vcpu *v = fake_vcpu(rnd(nr));

	v->ready = percent(70);
	v->preempted = percent(70);
	v->fake_preempted_in_kernel = percent(50);
	v->spin_loop.in_spin_loop = percent(50);
}

static void random_results(bool calm)
{
	u32 success = calm ? 100 : rnd(101), error = rnd(101);
	int i;

	for (i = 0; i < MAX_TARGETS; i++)
		results[i] = percent(success) ? 1 + (int)rnd(3) :
			     percent(error) ? -ESRCH : 0;
}

static void look(struct model *m)
{
	int i;

	for (i = 0; i < m->nr; i++) {
		const struct kvm_vcpu *v = fake_vcpu(i);

		m->vcpu[i] = (struct model_vcpu) {
			.waits = v->ready &&
				 (!v->fake_blocking || v->fake_dy_runnable),
			.useful = !v->preempted || v->fake_preempted_in_kernel ||
				  v->fake_facts & KVM_YIELD_APICV_INTERRUPT,
			.spins = v->spin_loop.in_spin_loop,
			.eligible = v->spin_loop.dy_eligible,
		};
	}
}

/* What KVM's own code would have left behind, had it decided. */
static void store(const struct model *m)
{
	int i;

	for (i = 0; i < m->nr; i++)
		fake_vcpu(i)->spin_loop.dy_eligible = m->vcpu[i].eligible;
	fake_vm->last_boosted_vcpu = m->last;
	memcpy(fake_targets, m->targets, sizeof(m->targets));
	fake_nr_targets = m->nr_targets;
}

static const char *difference(const struct model *m)
{
	int i;

	for (i = 0; i < m->nr_targets && i < (int)fake_nr_targets; i++) {
		if (m->targets[i] != fake_targets[i])
			return "another target";
	}
	if ((int)fake_nr_targets != m->nr_targets)
		return "another number of targets";
	if (fake_vm->last_boosted_vcpu != m->last)
		return "another last boosted vCPU";
	for (i = 0; i < m->nr; i++) {
		if (fake_vcpu(i)->spin_loop.dy_eligible != m->vcpu[i].eligible)
			return "another eligibility";
		if (fake_vcpu(i)->spin_loop.in_spin_loop != m->vcpu[i].spins)
			return "another vCPU seems to spin";
	}
	return NULL;
}

static void describe(const struct model *m, int me, const char *what)
{
	int i;

	print_message("#  %s: %d vCPUs, spinner %d, now last boosted %d\n", what,
		      m->nr, me, m->last);
	print_message("#  KVM's own code:");
	for (i = 0; i < m->nr_targets; i++)
		print_message(" %d(%d)", m->targets[i], results[i]);
	print_message("\n#  the hook:      ");
	for (i = 0; i < (int)fake_nr_targets; i++)
		print_message(" %d(%d)", fake_targets[i], results[i]);
	print_message("\n");
}

/* Spins of one VM; false at the first that differs. */
static bool one_state(int nr, bool quiet, unsigned int *spins, unsigned int *own)
{
	struct model m = { .nr = nr };
	const char *what;
	int i, me;
	/* Where little changes one vCPU is chosen again and again. */
	bool calm = percent(20), kernel_only;

	fake_vm->online_vcpus.counter = nr;
	fake_vm->last_boosted_vcpu = m.last = (int)rnd(nr + 1) - 1;
	fake_vm->yield.streak = 0;
	random_vcpus(nr);
	for (i = 0; i < SPINS; i++) {
		random_results(calm);
		if (!calm)
			random_change(nr);
		me = rnd(nr);
		fake_vcpu(me)->spin_loop.in_spin_loop = false;
		kernel_only = percent(60);
		look(&m);
		fake_forget();
		model_spin(&m, me, kernel_only);
		if (!fake_spin(me, kernel_only)) {
			if (fake_nr_targets)
				fail_msg("decided a spin and left it to KVM");
			store(&m);
			++*own;
		}
		++*spins;
		what = difference(&m);
		if (what && !quiet)
			describe(&m, me, what);
		if (what)
			return false;
	}
	return true;
}

static unsigned int env_number(const char *name, unsigned int otherwise)
{
	const char *value = getenv(name);

	return value ? strtoul(value, NULL, 0) : otherwise;
}

static unsigned int differing_states(const struct kvm_yield_ops *ops,
				     unsigned int states, bool quiet)
{
	unsigned int seed = env_number("KVMYIELD_SEED", 20210601);
	unsigned int i, differ = 0, spins = 0, own = 0;

	random_state = 0x9e3779b97f4a7c15ull * (seed + 1ull);
	fake_make_vm(MAX_VCPUS);
	fake_yield = scripted_result;
	/* KVM's own choices must never use up any budget. */
	kvm_yield_refusal_budget = quiet ? 0 : 1;
	assert_int_equal(fake_attach(ops), 0);
	for (i = 0; i < states && (quiet || differ < 3); i++)
		differ += !one_state(1 + rnd(MAX_VCPUS), quiet, &spins, &own);
	print_message("#  seed %u: %u states, %u spins, %u of them bounded, %u differ\n",
		      seed, i, spins, own, differ);
	assert_int_equal(fake_ejects, 0);
	/* The bound must have come into play, or less is shown than said. */
	if (!differ)
		assert_int_not_equal(own, 0);
	return differ;
}

static void builtin_makes_the_choices_of_6_12(void **state)
{
	unsigned int states = env_number("KVMYIELD_STATES", 100000);

	assert_int_equal(differing_states(&policy_builtin, states, false), 0);
}

/* Else nothing would be shown by the test above. */
static void another_policy_is_told_apart(void **state)
{
	assert_true(differing_states(&policy_yield_policy, 1000, true) > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, fake_setup, fake_teardown)
		TEST(builtin_makes_the_choices_of_6_12),
		TEST(another_policy_is_told_apart),
	};

	setenv("CMOCKA_MESSAGE_OUTPUT", "TAP", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
