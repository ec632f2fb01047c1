// SPDX-License-Identifier: GPL-2.0
/*
 * Which yield policy is attached: its life from attachment to release, and the
 * account of what it has done.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/jump_label_ratelimit.h>
#include <linux/kvm_host.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>

#include "yield.h"

unsigned int kvm_yield_refusal_budget = 10000;
module_param_named(yield_refusal_budget, kvm_yield_refusal_budget, uint, 0644);
MODULE_PARM_DESC(yield_refusal_budget,
		 "Spins in a row in which a yield policy may choose no vCPU although KVM's own code would have; then it is detached. 0: never, for experiments (default 10000)");

static unsigned int kvm_yield_linger_ms = 1000;
module_param_named(yield_linger_ms, kvm_yield_linger_ms, uint, 0644);
MODULE_PARM_DESC(yield_linger_ms,
		 "Milliseconds after the last yield policy has gone until the hook is patched out of KVM's code again (default 1000)");

/*
 * Not switched off at once: a host on which policies are being compared does not
 * patch the text of every CPU at each change.
 */
__read_mostly DEFINE_STATIC_KEY_DEFERRED_FALSE(kvm_yield_enabled, HZ);

/* Serializes all that attaches, replaces and detaches. */
static DEFINE_MUTEX(kvm_yield_mutex);
static struct kvm_yield_policy __rcu *kvm_yield_host_policy;
static struct module *kvm_yield_vendor;
static bool kvm_yield_has_vendor;
static u64 kvm_yield_last_id;
static u64 kvm_yield_since;

/* What is told of the last policy that was ejected. */
static struct {
	u64	id;
	u32	link_id;
	u32	reason;
	u32	refusals;
	char	name[KVM_YIELD_NAME_LEN];
} kvm_yield_last_exit;

/**
 * kvm_yield_policy_get - find the policy that decides for a VM
 * @kvm: the VM
 *
 * Context: RCU read side; the policy is valid until it is left.
 * Return: the policy, or NULL where KVM's own code decides.
 */
struct kvm_yield_policy *kvm_yield_policy_get(const struct kvm *kvm)
{
	struct kvm_yield_policy *policy;

	policy = rcu_dereference(kvm_yield_host_policy);
	if (!policy || unlikely(test_bit(0, &policy->ejected)))
		return NULL;

	return policy;
}

/**
 * kvm_yield_enabled_since - since when vCPUs note when they become ready
 *
 * Return: local_clock() of the moment before the hook was switched on.
 */
u64 kvm_yield_enabled_since(void)
{
	return READ_ONCE(kvm_yield_since);
}

static struct kvm_yield_policy *
kvm_yield_policy_alloc(const struct kvm_yield_ops *ops, struct bpf_link *link)
{
	struct kvm_yield_policy *policy;

	policy = kzalloc(sizeof(*policy), GFP_KERNEL_ACCOUNT);
	if (!policy)
		return NULL;

	policy->counters = alloc_percpu_gfp(struct kvm_yield_counters,
					    GFP_KERNEL_ACCOUNT);
	if (!policy->counters) {
		kfree(policy);
		return NULL;
	}
	policy->ops = ops;
	policy->link = link;
	policy->id = ++kvm_yield_last_id;
	policy->since = local_clock();

	return policy;
}

static void kvm_yield_policy_free_rcu(struct rcu_head *rcu)
{
	struct kvm_yield_policy *policy;

	policy = container_of(rcu, struct kvm_yield_policy, rcu);
	free_percpu(policy->counters);
	kfree(policy);
}

static struct kvm_yield_policy *kvm_yield_current(void)
{
	return rcu_dereference_protected(kvm_yield_host_policy,
					 lockdep_is_held(&kvm_yield_mutex));
}

static void kvm_yield_publish(struct kvm_yield_policy *policy)
{
	struct kvm_yield_policy *old = kvm_yield_current();

	rcu_assign_pointer(kvm_yield_host_policy, policy);
	if (old)
		call_rcu(&old->rcu, kvm_yield_policy_free_rcu);
}

/**
 * kvm_yield_attach - attach the host's policy
 * @ops: the policy; the caller keeps it until kvm_yield_detach() and an RCU
 *	grace period
 * @link: the BPF link that attaches it
 *
 * The vendor module is held as well, so that ``rmmod kvm_amd kvm`` fails as a
 * whole and not half-way.
 *
 * Context: process context, may sleep.
 * Return: 0; -EBUSY if one is attached, -ENODEV without a vendor module,
 * -ENOMEM.
 */
int kvm_yield_attach(const struct kvm_yield_ops *ops, struct bpf_link *link)
{
	struct kvm_yield_policy *policy;
	int ret = 0;

	mutex_lock(&kvm_yield_mutex);
	if (kvm_yield_current()) {
		ret = -EBUSY;
		goto out;
	}
	if (!kvm_yield_has_vendor || !try_module_get(kvm_yield_vendor)) {
		ret = -ENODEV;
		goto out;
	}
	policy = kvm_yield_policy_alloc(ops, link);
	if (!policy) {
		module_put(kvm_yield_vendor);
		ret = -ENOMEM;
		goto out;
	}
	WRITE_ONCE(kvm_yield_since, local_clock());
	kvm_yield_publish(policy);
	static_branch_deferred_inc(&kvm_yield_enabled);
out:
	mutex_unlock(&kvm_yield_mutex);
	return ret;
}

/**
 * kvm_yield_replace - put another policy into the place of the attached one
 * @ops: the new policy, kept as in kvm_yield_attach()
 * @link: the link that attaches the old one, and now the new one
 *
 * Each spin is decided by one of the two. The new one's account begins at 0.
 *
 * Context: process context, may sleep.
 * Return: 0; -ESTALE if the old one was ejected or is not attached by @link,
 * -ENOMEM.
 */
int kvm_yield_replace(const struct kvm_yield_ops *ops, struct bpf_link *link)
{
	struct kvm_yield_policy *old, *policy;
	int ret = 0;

	mutex_lock(&kvm_yield_mutex);
	old = kvm_yield_current();
	/* Its link is about to be detached, and would take the new one along. */
	if (!old || old->link != link || test_bit(0, &old->ejected)) {
		ret = -ESTALE;
		goto out;
	}
	policy = kvm_yield_policy_alloc(ops, link);
	if (!policy) {
		ret = -ENOMEM;
		goto out;
	}
	kvm_yield_publish(policy);
out:
	mutex_unlock(&kvm_yield_mutex);
	return ret;
}

static void kvm_yield_note_exit(const struct kvm_yield_policy *policy)
{
	kvm_yield_last_exit.id = policy->id;
	kvm_yield_last_exit.link_id = kvm_yield_link_id(policy->link);
	kvm_yield_last_exit.reason = KVM_YIELD_EXIT_REFUSALS;
	kvm_yield_last_exit.refusals = atomic_read(&policy->refusals);
	strscpy(kvm_yield_last_exit.name, policy->ops->name);
	pr_warn("yield policy %s detached: it chose no vCPU %u times in a row where KVM would have\n",
		policy->ops->name, kvm_yield_last_exit.refusals);
}

/**
 * kvm_yield_detach - detach the policy that a link attached
 * @link: the link
 *
 * KVM's own code decides from now on. Readers may still be in the policy until
 * an RCU grace period has passed.
 *
 * Context: process context, may sleep.
 */
void kvm_yield_detach(struct bpf_link *link)
{
	struct kvm_yield_policy *policy;

	mutex_lock(&kvm_yield_mutex);
	policy = kvm_yield_current();
	if (policy && policy->link == link) {
		if (test_bit(0, &policy->ejected))
			kvm_yield_note_exit(policy);
		kvm_yield_enabled.timeout =
			msecs_to_jiffies(READ_ONCE(kvm_yield_linger_ms));
		static_branch_slow_dec_deferred(&kvm_yield_enabled);
		kvm_yield_publish(NULL);
		module_put(kvm_yield_vendor);
	}
	mutex_unlock(&kvm_yield_mutex);
}

/**
 * kvm_yield_ejected_link - find the link whose policy has to be ejected
 *
 * Context: process context, may sleep.
 * Return: the link with a reference taken, or NULL.
 */
struct bpf_link *kvm_yield_ejected_link(void)
{
	struct kvm_yield_policy *policy;
	struct bpf_link *link = NULL;

	mutex_lock(&kvm_yield_mutex);
	policy = kvm_yield_current();
	if (policy && test_bit(0, &policy->ejected))
		link = kvm_yield_link_get(policy->link);
	mutex_unlock(&kvm_yield_mutex);

	return link;
}

/**
 * kvm_yield_add - add one account to another
 * @counters: what to add; whoever counts may be at work meanwhile
 * @sum: where to
 */
void kvm_yield_add(const struct kvm_yield_counters *counters,
		   struct kvm_yield_counters *sum)
{
	const u64 *from = (const u64 *)counters;
	u64 *to = (u64 *)sum;
	unsigned int i;

	BUILD_BUG_ON(sizeof(*sum) % sizeof(u64));
	for (i = 0; i < sizeof(*sum) / sizeof(u64); i++)
		to[i] += READ_ONCE(from[i]);
}

static void kvm_yield_sum(const struct kvm_yield_policy *policy,
			  struct kvm_yield_counters *sum)
{
	int cpu;

	for_each_possible_cpu(cpu)
		kvm_yield_add(per_cpu_ptr(policy->counters, cpu), sum);
}

/**
 * kvm_yield_read_status - tell what is attached and what it has done
 * @status: where to
 *
 * Context: process context, may sleep.
 */
void kvm_yield_read_status(struct kvm_yield_status *status)
{
	struct kvm_yield_policy *policy;

	memset(status, 0, sizeof(*status));
	status->facts = KVM_YIELD_PREEMPTED | KVM_YIELD_KERNEL |
			KVM_YIELD_WAIT_VALID | KVM_YIELD_WOKEN |
			kvm_arch_yield_fact_mask();
	if (IS_ENABLED(CONFIG_HAVE_KVM_CPU_RELAX_INTERCEPT))
		status->facts |= KVM_YIELD_SPINNING;
	status->budget = READ_ONCE(kvm_yield_refusal_budget);
	status->max_streak = KVM_YIELD_MAX_STREAK;

	mutex_lock(&kvm_yield_mutex);
	policy = kvm_yield_current();
	if (policy) {
		status->id = policy->id;
		status->age_ns = max_t(s64, local_clock() - policy->since, 0);
		status->link_id = kvm_yield_link_id(policy->link);
		strscpy(status->name, policy->ops->name);
		kvm_yield_sum(policy, &status->counters);
	}
	status->exit_id = kvm_yield_last_exit.id;
	status->exit_link_id = kvm_yield_last_exit.link_id;
	status->exit_reason = kvm_yield_last_exit.reason;
	status->exit_refusals = kvm_yield_last_exit.refusals;
	strscpy(status->exit_name, kvm_yield_last_exit.name);
	mutex_unlock(&kvm_yield_mutex);
}

/**
 * kvm_yield_policy_id - number of the attached policy
 *
 * Context: process context, may sleep.
 * Return: the number, or 0.
 */
u64 kvm_yield_policy_id(void)
{
	struct kvm_yield_policy *policy;
	u64 id;

	mutex_lock(&kvm_yield_mutex);
	policy = kvm_yield_current();
	id = policy ? policy->id : 0;
	mutex_unlock(&kvm_yield_mutex);

	return id;
}

/**
 * kvm_yield_set_vendor - a vendor module has made KVM ready for VMs
 * @vendor: kvm-amd or kvm-intel; NULL if it is built in
 *
 * Context: process context, may sleep.
 */
void kvm_yield_set_vendor(struct module *vendor)
{
	mutex_lock(&kvm_yield_mutex);
	kvm_yield_vendor = vendor;
	kvm_yield_has_vendor = true;
	mutex_unlock(&kvm_yield_mutex);
}

/**
 * kvm_yield_clear_vendor - the vendor module goes away
 *
 * No policy is attached: it would hold the module.
 *
 * Context: process context, may sleep.
 */
void kvm_yield_clear_vendor(void)
{
	mutex_lock(&kvm_yield_mutex);
	kvm_yield_has_vendor = false;
	kvm_yield_vendor = NULL;
	mutex_unlock(&kvm_yield_mutex);
}
