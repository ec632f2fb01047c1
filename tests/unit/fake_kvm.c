// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel below the yield hook, as plain variables, and with its rules
 * checked: what may be called inside an RCU read side, and what may not.
 */
#include "fake_kvm.h"

#include <linux/mutex.h>
#include <linux/sched.h>

int fake_rcu_depth;
static struct rcu_head *rcu_pending;
static bool rcu_held_elsewhere;
u64 fake_clock;
int fake_ejects;
int fake_warnings;
u32 fake_random;

struct kvm *fake_vm;
struct kvm_vcpu *fake_running;
struct mutex kvm_lock;
struct list_head vm_list;
int fake_targets[FAKE_MAX_CALLS];
unsigned int fake_nr_targets;
int (*fake_yield)(struct kvm_vcpu *target);
void (*fake_resched)(void);
int fake_nr_resched;

static struct bpf_link the_link = { .id = 77 };
static struct module vendor;

/* Warnings of the hook are counted; their words are for people. */
void fake_log(const char *fmt, ...)
{
	fake_warnings++;
}

/* RCU */

static void rcu_run(void)
{
	struct rcu_head *head;

	if (fake_rcu_depth || rcu_held_elsewhere)
		return;
	while ((head = rcu_pending)) {
		rcu_pending = head->next;
		head->fn(head);
	}
}

void rcu_read_lock(void)
{
	fake_rcu_depth++;
}

void rcu_read_unlock(void)
{
	if (fake_rcu_depth <= 0)
		fail_msg("rcu_read_unlock() without a reader");
	fake_rcu_depth--;
	rcu_run();
}

void call_rcu(struct rcu_head *head, void (*fn)(struct rcu_head *head))
{
	struct rcu_head **end = &rcu_pending;

	while (*end)
		end = &(*end)->next;
	*end = head;
	head->next = NULL;
	head->fn = fn;
	rcu_run();
}

void fake_rcu_check_reader(const char *who)
{
	if (fake_rcu_depth <= 0)
		fail_msg("%s outside of an RCU read side", who);
}

static void check_may_sleep(const char *who)
{
	if (fake_rcu_depth)
		fail_msg("%s inside an RCU read side", who);
}

void fake_other_cpu(void (*fn)(void))
{
	int depth = fake_rcu_depth;

	rcu_held_elsewhere = depth > 0;
	fake_rcu_depth = 0;
	fn();
	fake_rcu_depth = depth;
	rcu_held_elsewhere = false;
}

void mutex_lock(struct mutex *m)
{
	check_may_sleep("mutex_lock");
	if (m->held)
		fail_msg("mutex taken twice");
	m->held = true;
}

void mutex_unlock(struct mutex *m)
{
	if (!m->held)
		fail_msg("mutex is not held");
	m->held = false;
}

bool fake_mutex_check_held(const struct mutex *m)
{
	if (!m->held)
		fail_msg("used without the mutex");
	return true;
}

void cond_resched(void)
{
	check_may_sleep("cond_resched");
	fake_nr_resched++;
	if (fake_resched)
		fake_resched();
}

/* KVM */

int kvm_vcpu_yield_to(struct kvm_vcpu *target)
{
	check_may_sleep("kvm_vcpu_yield_to");
	if (fake_nr_targets == FAKE_MAX_CALLS)
		fail_msg("too many yields");
	fake_targets[fake_nr_targets++] = target->vcpu_idx;

	return fake_yield ? fake_yield(target) : 1;
}

struct kvm_vcpu *kvm_get_running_vcpu(void)
{
	return fake_running;
}

bool kvm_vcpu_dy_runnable(struct kvm_vcpu *vcpu)
{
	return vcpu->fake_dy_runnable;
}

u32 kvm_arch_yield_facts(struct kvm_vcpu *vcpu, struct kvm_vcpu *spinner)
{
	fake_rcu_check_reader("kvm_arch_yield_facts");
	return vcpu->fake_facts;
}

void kvm_arch_yield_vm_status(struct kvm *kvm, struct kvm_yield_vm_status *vm)
{
	vm->flags = KVM_YIELD_VM_USER_APIC;
}

u32 kvm_arch_yield_spinner_facts(struct kvm_vcpu *me)
{
	return me->fake_facts;
}

u32 kvm_arch_yield_record(struct kvm_vcpu *vcpu, u32 *hint)
{
	*hint = vcpu->fake_hint;
	return vcpu->fake_out_facts;
}

u32 kvm_arch_yield_fact_mask(void)
{
	return KVM_YIELD_INTERRUPT;
}

u32 bpf_get_prandom_u32(void)
{
	return fake_random;
}

struct kvm_vcpu *fake_vcpu(unsigned int index)
{
	return fake_vm->fake_vcpus[index];
}

static void free_vm(void)
{
	unsigned int i;

	for (i = 0; fake_vm && i < KVM_MAX_VCPUS && fake_vcpu(i); i++)
		free(fake_vm->fake_vcpus[i]);
	free(fake_vm);
	fake_vm = NULL;
}

void fake_make_vm(unsigned int nr)
{
	unsigned int i;

	free_vm();
	fake_vm = calloc(1, sizeof(*fake_vm));
	fake_vm->online_vcpus.counter = nr;
	vm_list.fake_first = fake_vm;
	fake_running = NULL;
	for (i = 0; i < nr; i++) {
		fake_vm->fake_vcpus[i] = calloc(1, sizeof(struct kvm_vcpu));
		fake_vcpu(i)->kvm = fake_vm;
		fake_vcpu(i)->vcpu_idx = i;
	}
}

void fake_make_ready(unsigned int index)
{
	fake_vcpu(index)->ready = true;
	fake_vcpu(index)->preempted = true;
	fake_vcpu(index)->fake_preempted_in_kernel = true;
}

void fake_make_all_ready(void)
{
	int i;

	for (i = 0; i < fake_vm->online_vcpus.counter; i++)
		fake_make_ready(i);
}

bool fake_spin(unsigned int index, bool kernel_only)
{
	bool decided = kvm_yield_on_spin(fake_vcpu(index), kernel_only);

	if (fake_rcu_depth)
		fail_msg("the hook left an RCU read side open");
	if (fake_vcpu(index)->spin_loop.in_spin_loop)
		fail_msg("the hook left in_spin_loop set");
	return decided;
}

/* The BPF side */

struct copied_ops {
	struct kvm_yield_ops	ops;
	struct rcu_head		rcu;
};

static struct copied_ops *attached;

static void free_ops(struct rcu_head *rcu)
{
	free(container_of(rcu, struct copied_ops, rcu));
}

static struct copied_ops *copy_ops(const struct kvm_yield_ops *ops)
{
	struct copied_ops *copy = calloc(1, sizeof(*copy));

	copy->ops = *ops;
	return copy;
}

int fake_attach(const struct kvm_yield_ops *ops)
{
	struct copied_ops *copy = copy_ops(ops);
	int ret = kvm_yield_attach(&copy->ops, &the_link);

	if (ret)
		free(copy);
	else
		attached = copy;
	return ret;
}

int fake_replace(const struct kvm_yield_ops *ops)
{
	struct copied_ops *copy = copy_ops(ops), *old = attached;
	int ret = kvm_yield_replace(&copy->ops, &the_link);

	if (ret) {
		free(copy);
		return ret;
	}
	attached = copy;
	call_rcu(&old->rcu, free_ops);
	return 0;
}

void fake_detach(void)
{
	struct copied_ops *old = attached;

	if (!old)
		return;
	attached = NULL;
	kvm_yield_detach(&the_link);
	call_rcu(&old->rcu, free_ops);
}

struct kvm_yield_status fake_status(void)
{
	struct kvm_yield_status status;

	kvm_yield_read_status(&status);
	return status;
}

void kvm_yield_bpf_eject(void)
{
	fake_ejects++;
}

u32 kvm_yield_link_id(const struct bpf_link *link)
{
	return link->id;
}

struct bpf_link *kvm_yield_link_get(struct bpf_link *link)
{
	link->refs++;
	return link;
}

int fake_setup(void **state)
{
	fake_rcu_depth = 0;
	fake_clock = 1000000000ull;
	fake_ejects = 0;
	fake_warnings = 0;
	fake_yield = NULL;
	fake_resched = NULL;
	kvm_yield_refusal_budget = 10000;
	memset(&vendor, 0, sizeof(vendor));
	kvm_yield_set_vendor(&vendor);
	fake_forget();
	fake_score_all(0);
	memset(fake_write_eligible, 0, sizeof(fake_write_eligible));
	fake_make_vm(4);
	return 0;
}

int fake_teardown(void **state)
{
	/* A test that failed half-way may have left a reader. */
	fake_rcu_depth = 0;
	rcu_run();
	fake_detach();
	free_vm();
	if (vendor.refs || kvm_yield_enabled.key.enabled)
		fail_msg("still held: vendor module %d, static key %d",
			 vendor.refs, kvm_yield_enabled.key.enabled);
	kvm_yield_clear_vendor();
	return 0;
}
