// SPDX-License-Identifier: GPL-2.0
/*
 * One decision of the yield hook: collect the ready vCPUs, let the policy rank
 * them, yield to the best. The bounds that hold whatever a policy says are here.
 */
#include <linux/bitmap.h>
#include <linux/bits.h>
#include <linux/kvm_host.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>

#include "yield.h"

/* As many yields as KVM's own code tries before it gives up. */
#define KVM_YIELD_TRIES		3

/* Ranking lets others run on this CPU after so many calls of a policy. */
#define KVM_YIELD_BATCH		64

struct kvm_yield_choice {
	struct kvm_yield_candidate	cand;
	s32				score;
};

/**
 * struct kvm_yield_round - one spin on its way to a decision
 * @kvm: the VM
 * @me: the spinner
 * @policy: the policy; a reader's pointer, looked up again after each pause
 * @policy_id: the policy's number when the round began
 * @spin: what the policy is told of the spinner
 * @best: the best choices so far, the best one first
 * @nr_best: how many
 * @tries: yields that may still fail
 * @result: what the last yield that was tried returned
 * @asked: the policy was asked
 * @tried: a yield was tried
 * @own_choice: KVM's own code would have yielded to one of the candidates
 * @ready: the vCPUs that were ready when the round began
 */
struct kvm_yield_round {
	struct kvm			*kvm;
	struct kvm_vcpu			*me;
	struct kvm_yield_policy		*policy;
	u64				policy_id;
	struct kvm_yield_spin		spin;
	struct kvm_yield_choice		best[KVM_YIELD_TRIES];
	unsigned int			nr_best;
	int				tries;
	int				result;
	bool				asked;
	bool				tried;
	bool				own_choice;
	DECLARE_BITMAP(ready, KVM_MAX_VCPUS);
};

u32 __weak kvm_arch_yield_facts(struct kvm_vcpu *vcpu, struct kvm_vcpu *spinner)
{
	return 0;
}

u32 __weak kvm_arch_yield_spinner_facts(struct kvm_vcpu *me)
{
	return 0;
}

u32 __weak kvm_arch_yield_record(struct kvm_vcpu *vcpu, u32 *hint)
{
	return 0;
}

u32 __weak kvm_arch_yield_fact_mask(void)
{
	return 0;
}

void __kvm_yield_note_ready(struct kvm_vcpu *vcpu)
{
	WRITE_ONCE(vcpu->yield.ready_since, local_clock());
}

void __kvm_yield_note_preempted(struct kvm_vcpu *vcpu)
{
	u64 now = local_clock();
	u32 hint = 0;
	u32 facts;

	facts = kvm_arch_yield_record(vcpu, &hint);
	WRITE_ONCE(vcpu->yield.hint, hint);
	WRITE_ONCE(vcpu->yield.out_facts, facts);
	WRITE_ONCE(vcpu->yield.out_since, now);
	WRITE_ONCE(vcpu->yield.ready_since, now);
}

/* Each policy's account begins at 0; the spinner's is its own to reset. */
static void kvm_yield_open_account(struct kvm_yield_round *round)
{
	struct kvm_yield_vcpu *mine = &round->me->yield;

	if (likely(mine->counted_id == round->policy_id))
		return;

	WRITE_ONCE(mine->counted_id, 0);
	/* Readers go by the number: nothing is valid while it is 0. */
	smp_wmb();
	memset(&mine->counters, 0, sizeof(mine->counters));
	/* Pairs with add_vcpu(). */
	smp_wmb();
	WRITE_ONCE(mine->counted_id, round->policy_id);
}

/* All counters are u64: this is the place of one. */
#define KVM_YIELD_NR(counter) \
	(offsetof(struct kvm_yield_counters, counter) / sizeof(u64))

/* To the policy's account, and to the spinner's part of it. */
static void kvm_yield_count(struct kvm_yield_round *round, unsigned int nr)
{
	u64 __percpu *all = (u64 __percpu *)round->policy->counters;
	u64 *mine = (u64 *)&round->me->yield.counters;

	this_cpu_inc(all[nr]);
	mine[nr]++;
}

static void kvm_yield_count_facts(struct kvm_yield_round *round,
				  unsigned int first, u32 facts)
{
	u64 __percpu *all = (u64 __percpu *)round->policy->counters + first;
	u64 *mine = (u64 *)&round->me->yield.counters + first;
	unsigned long left = facts & (BIT(KVM_YIELD_MAX_FACTS) - 1);
	unsigned int fact;

	/* Not by kvm_yield_count(): this is most of what counting costs. */
	for (; left; left &= left - 1) {
		fact = __ffs(left);
		this_cpu_inc(all[fact]);
		mine[fact]++;
	}
}

static bool kvm_yield_in_spin_loop(struct kvm_vcpu *vcpu)
{
#ifdef CONFIG_HAVE_KVM_CPU_RELAX_INTERCEPT
	return READ_ONCE(vcpu->spin_loop.in_spin_loop);
#else
	return false;
#endif
}

static bool kvm_yield_dy_eligible(struct kvm_vcpu *vcpu)
{
#ifdef CONFIG_HAVE_KVM_CPU_RELAX_INTERCEPT
	return READ_ONCE(vcpu->spin_loop.dy_eligible);
#else
	return false;
#endif
}

static void kvm_yield_fill_candidate(struct kvm_yield_round *round,
				     struct kvm_vcpu *vcpu,
				     struct kvm_yield_candidate *cand)
{
	u64 since = READ_ONCE(vcpu->yield.ready_since);
	u64 enabled = kvm_yield_enabled_since();
	s64 wait = local_clock() - since;

	*cand = (struct kvm_yield_candidate) {
		.vcpu = vcpu,
		.index = vcpu->vcpu_idx,
		.facts = kvm_arch_yield_facts(vcpu, round->me),
		.dy_eligible = kvm_yield_dy_eligible(vcpu),
	};

	if (READ_ONCE(vcpu->preempted)) {
		cand->facts |= KVM_YIELD_PREEMPTED;
		if (kvm_arch_vcpu_preempted_in_kernel(vcpu))
			cand->facts |= KVM_YIELD_KERNEL;
		if (READ_ONCE(vcpu->yield.out_since) >= enabled)
			cand->facts |= READ_ONCE(vcpu->yield.out_facts);
	} else {
		cand->facts |= KVM_YIELD_WOKEN;
	}
	if (cand->facts & KVM_YIELD_HINT_VALID)
		cand->hint = READ_ONCE(vcpu->yield.hint);
	if (kvm_yield_in_spin_loop(vcpu))
		cand->facts |= KVM_YIELD_SPINNING;

	/* Older ones were noted while an earlier policy was attached, if at all. */
	if (since >= enabled) {
		cand->facts |= KVM_YIELD_WAIT_VALID;
		cand->wait_ns = max_t(s64, wait, 0);
	}
	if (cand->index == READ_ONCE(round->kvm->last_boosted_vcpu))
		cand->streak = READ_ONCE(round->kvm->yield.streak);
}

/*
 * Would KVM's own code yield to it, in whatever round? Vcpus that spin
 * themselves are not counted: KVM's own code passes over them every other time.
 */
static bool kvm_yield_own_choice(const struct kvm_yield_spin *spin,
				 const struct kvm_yield_candidate *cand)
{
	if (cand->facts & KVM_YIELD_SPINNING)
		return false;

	return !spin->kernel_only || !(cand->facts & KVM_YIELD_PREEMPTED) ||
	       cand->facts & (KVM_YIELD_KERNEL | KVM_YIELD_APICV_INTERRUPT);
}

static void kvm_yield_note_boost(struct kvm *kvm, int index)
{
	if (READ_ONCE(kvm->last_boosted_vcpu) == index) {
		WRITE_ONCE(kvm->yield.streak, READ_ONCE(kvm->yield.streak) + 1);
		return;
	}
	WRITE_ONCE(kvm->last_boosted_vcpu, index);
	WRITE_ONCE(kvm->yield.streak, 1);
}

/* After a pause in which the policy may have been replaced or freed. */
static bool kvm_yield_same_policy(struct kvm_yield_round *round)
{
	round->policy = kvm_yield_policy_get(round->kvm);

	return round->policy && round->policy->id == round->policy_id;
}

/*
 * Yield to one candidate. The RCU read side is left meanwhile, as the spinner
 * is scheduled out. Returns true when the round is over.
 */
static bool kvm_yield_try(struct kvm_yield_round *round,
			  const struct kvm_yield_candidate *cand)
{
	int ret;

	round->tried = true;
	kvm_yield_count(round, KVM_YIELD_NR(tries));
	if (atomic_read(&round->policy->refusals))
		atomic_set(&round->policy->refusals, 0);
	rcu_read_unlock();

	ret = kvm_vcpu_yield_to(cand->vcpu);
	round->result = ret;
	if (ret > 0)
		kvm_yield_note_boost(round->kvm, cand->index);
	else if (ret < 0)
		round->tries--;

	rcu_read_lock();
	if (!kvm_yield_same_policy(round))
		return true;

	if (ret > 0) {
		kvm_yield_count(round, KVM_YIELD_NR(yields));
		kvm_yield_count_facts(round, KVM_YIELD_NR(chosen),
				      cand->facts);
	}
	if (round->policy->ops->yielded)
		round->policy->ops->yielded(&round->spin, cand, ret);

	return ret > 0 || !round->tries;
}

/* Keep the best, in order; an equal one goes behind those before it. */
static void kvm_yield_keep(struct kvm_yield_round *round,
			   const struct kvm_yield_candidate *cand, s32 score)
{
	struct kvm_yield_choice *best = round->best;
	unsigned int pos = round->nr_best;

	while (pos && best[pos - 1].score < score)
		pos--;
	if (pos == KVM_YIELD_TRIES)
		return;
	if (round->nr_best < KVM_YIELD_TRIES)
		round->nr_best++;

	memmove(&best[pos + 1], &best[pos],
		(round->nr_best - pos - 1) * sizeof(*best));
	best[pos].cand = *cand;
	best[pos].score = score;
}

static bool kvm_yield_is_candidate(struct kvm_yield_round *round,
				   struct kvm_vcpu *vcpu)
{
	if (!vcpu || vcpu == round->me || !READ_ONCE(vcpu->ready))
		return false;

	return !kvm_vcpu_is_blocking(vcpu) || kvm_vcpu_dy_runnable(vcpu);
}

/* Returns true when the round is over. */
static bool kvm_yield_consider(struct kvm_yield_round *round,
			       struct kvm_vcpu *vcpu)
{
	struct kvm_yield_candidate cand;
	bool was_eligible;
	s32 score;

	kvm_yield_fill_candidate(round, vcpu, &cand);
	if (kvm_yield_own_choice(&round->spin, &cand))
		round->own_choice = true;

	round->asked = true;
	was_eligible = cand.dy_eligible;
	kvm_yield_count(round, KVM_YIELD_NR(candidates));
	kvm_yield_count_facts(round, KVM_YIELD_NR(seen), cand.facts);
	score = round->policy->ops->rank(&round->spin, &cand);
	if (cand.dy_eligible != was_eligible)
		kvm_vcpu_set_dy_eligible(vcpu, cand.dy_eligible);

	if (score < 0)
		return false;
	if (score == KVM_YIELD_TAKE)
		return kvm_yield_try(round, &cand);

	kvm_yield_keep(round, &cand, score);
	return false;
}

/*
 * A policy may be slow, and the VM may be large. Keep neither this CPU nor a
 * grace period from anybody for longer than one batch.
 */
static bool kvm_yield_breathe(struct kvm_yield_round *round)
{
	rcu_read_unlock();
	cond_resched();
	rcu_read_lock();

	return kvm_yield_same_policy(round);
}

/* Returns true when the round is over. */
static bool kvm_yield_rank_all(struct kvm_yield_round *round)
{
	unsigned int nr = round->spin.nr_vcpus, calls = 0;
	unsigned int start, i;
	struct kvm_vcpu *vcpu;
	bool wrapped = false;

	/* Not even one vCPU is counted while KVM_CREATE_VCPU is at work. */
	if (!nr)
		return false;

	/* Round robin: the last one that was yielded to comes last. */
	start = (READ_ONCE(round->kvm->last_boosted_vcpu) + 1) % nr;
	for_each_set_bit_wrap(i, round->ready, nr, start) {
		/* As KVM's own code: a failure just before the wrap ends it. */
		if (i < start && !wrapped) {
			wrapped = true;
			if (round->result < 0)
				break;
		}
		vcpu = kvm_get_vcpu(round->kvm, i);
		if (!kvm_yield_is_candidate(round, vcpu))
			continue;
		if (calls++ == KVM_YIELD_BATCH) {
			calls = 1;
			if (!kvm_yield_breathe(round))
				return true;
		}
		if (kvm_yield_consider(round, vcpu))
			return true;
	}

	return false;
}

static void kvm_yield_try_best(struct kvm_yield_round *round)
{
	unsigned int i;

	for (i = 0; i < round->nr_best; i++) {
		if (kvm_yield_try(round, &round->best[i].cand))
			return;
	}
}

static void kvm_yield_collect(struct kvm_yield_round *round)
{
	struct kvm_yield_spin *spin = &round->spin;
	struct kvm_vcpu *vcpu;
	unsigned long i;

	bitmap_zero(round->ready, spin->nr_vcpus);
	kvm_for_each_vcpu(i, vcpu, round->kvm) {
		if (i >= spin->nr_vcpus)
			break;
		if (vcpu == round->me || !READ_ONCE(vcpu->ready))
			continue;
		__set_bit(i, round->ready);
		spin->nr_ready++;
	}
}

/*
 * Account a round in which the policy chose nobody. Returns true if it stands,
 * false if the policy has done so too often and KVM's own code shall decide.
 */
static bool kvm_yield_refused(struct kvm_yield_round *round)
{
	struct kvm_yield_policy *policy = round->policy;
	unsigned int budget = READ_ONCE(kvm_yield_refusal_budget);

	kvm_yield_count(round, KVM_YIELD_NR(refused));
	if (!round->own_choice)
		return true;

	kvm_yield_count(round, KVM_YIELD_NR(overruled));
	if (!budget || atomic_inc_return(&policy->refusals) < budget)
		return true;

	if (!test_and_set_bit(0, &policy->ejected))
		kvm_yield_bpf_eject();
	return false;
}

/* Returns false if KVM's own code shall decide after all. */
static bool kvm_yield_decide(struct kvm_yield_round *round)
{
	kvm_yield_collect(round);
	if (kvm_yield_rank_all(round))
		return true;

	kvm_yield_try_best(round);
	if (round->tried || !round->asked)
		return true;

	return kvm_yield_refused(round);
}

bool __kvm_yield_on_spin(struct kvm_vcpu *me, bool kernel_only)
{
	struct kvm *kvm = me->kvm;
	struct kvm_yield_round round;
	bool decided;

	round.kvm = kvm;
	round.me = me;
	round.nr_best = 0;
	round.tries = KVM_YIELD_TRIES;
	round.result = 0;
	round.asked = false;
	round.tried = false;
	round.own_choice = false;
	round.spin = (struct kvm_yield_spin) {
		.vcpu = me,
		.index = me->vcpu_idx,
		.nr_vcpus = atomic_read(&kvm->online_vcpus),
		.kernel_only = kernel_only,
	};
	round.spin.facts = kvm_arch_yield_spinner_facts(me);
	if (kvm_arch_vcpu_in_kernel(me))
		round.spin.facts |= KVM_YIELD_KERNEL;

	rcu_read_lock();
	round.policy = kvm_yield_policy_get(kvm);
	if (!round.policy) {
		rcu_read_unlock();
		return false;
	}
	round.policy_id = round.policy->id;
	kvm_yield_open_account(&round);
	if (READ_ONCE(kvm->yield.streak) >= KVM_YIELD_MAX_STREAK) {
		WRITE_ONCE(kvm->yield.streak, 0);
		kvm_yield_count(&round, KVM_YIELD_NR(bounded));
		rcu_read_unlock();
		return false;
	}
	kvm_yield_count(&round, KVM_YIELD_NR(spins));

	kvm_vcpu_set_in_spin_loop(me, true);
	decided = kvm_yield_decide(&round);
	kvm_vcpu_set_in_spin_loop(me, false);
	/* As in KVM's own code: not eligible in its next spin. */
	kvm_vcpu_set_dy_eligible(me, false);
	rcu_read_unlock();

	return decided;
}
