/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of the yield hook share; nothing else includes this. */
#ifndef __KVM_YIELD_INTERNAL_H
#define __KVM_YIELD_INTERNAL_H

#include <linux/kvm_yield.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>

struct bpf_link;

/**
 * struct kvm_yield_policy - an attached policy
 * @ops: the policy's functions; valid for RCU readers that found the policy
 * @link: the BPF link that attaches it, until the policy is unpublished
 * @id: number of the policy, never used again
 * @since: local_clock() when it was attached
 * @refusals: spins in a row that it refused and KVM's own code would not have
 * @ejected: set once, by whichever spinner finds the budget used up
 * @counters: what it has done, a set for each CPU
 * @rcu: delays the release past the last reader
 */
struct kvm_yield_policy {
	const struct kvm_yield_ops		*ops;
	struct bpf_link				*link;
	u64					id;
	u64					since;
	atomic_t				refusals;
	unsigned long				ejected;
	struct kvm_yield_counters __percpu	*counters;
	struct rcu_head				rcu;
};

extern unsigned int kvm_yield_refusal_budget;

struct kvm_yield_policy *kvm_yield_policy_get(const struct kvm *kvm);
u64 kvm_yield_policy_id(void);

int kvm_yield_attach(const struct kvm_yield_ops *ops, struct bpf_link *link);
int kvm_yield_replace(const struct kvm_yield_ops *ops, struct bpf_link *link);
void kvm_yield_detach(struct bpf_link *link);
struct bpf_link *kvm_yield_ejected_link(void);
void kvm_yield_read_status(struct kvm_yield_status *status);
void kvm_yield_add(const struct kvm_yield_counters *counters,
		   struct kvm_yield_counters *sum);
int kvm_yield_read_vms(struct kvm_yield_vm_status *vms, unsigned int nr,
		       unsigned int skip);

void kvm_yield_bpf_eject(void);
u32 kvm_yield_link_id(const struct bpf_link *link);
struct bpf_link *kvm_yield_link_get(struct bpf_link *link);

/* Called by BPF programs only; declared so that it has a declaration. */
int bpf_kvm_yield_status(struct kvm_yield_status *status, u32 status__sz);
int bpf_kvm_yield_vms(struct kvm_yield_vm_status *vms, u32 vms__sz, u32 skip);

bool kvm_vcpu_dy_runnable(struct kvm_vcpu *vcpu);

#endif /* __KVM_YIELD_INTERNAL_H */
