// SPDX-License-Identifier: GPL-2.0
/*
 * The yield hook's account of each VM: the sum over its vCPUs, which count what
 * the attached policy decided for them.
 */
#include <linux/kvm_host.h>
#include <linux/minmax.h>

#include "yield.h"

void __weak kvm_arch_yield_vm_status(struct kvm *kvm,
				     struct kvm_yield_vm_status *vm)
{
}

/* Its own thread counts meanwhile, and begins anew under another policy. */
static void add_vcpu(const struct kvm_vcpu *vcpu, u64 policy_id,
		     struct kvm_yield_counters *sum)
{
	struct kvm_yield_counters mine = { };

	if (!policy_id || READ_ONCE(vcpu->yield.counted_id) != policy_id)
		return;

	/* Pairs with kvm_yield_open_account(). */
	smp_rmb();
	kvm_yield_add(&vcpu->yield.counters, &mine);
	/* If they were reset meanwhile, the number has changed first. */
	smp_rmb();
	if (READ_ONCE(vcpu->yield.counted_id) == policy_id)
		kvm_yield_add(&mine, sum);
}

static void read_vm(struct kvm *kvm, u64 policy_id,
		    struct kvm_yield_vm_status *vm)
{
	struct kvm_vcpu *vcpu;
	unsigned long i;

	memset(vm, 0, sizeof(*vm));
	vm->pid = kvm->userspace_pid;
	vm->nr_vcpus = atomic_read(&kvm->online_vcpus);
	kvm_arch_yield_vm_status(kvm, vm);
	kvm_for_each_vcpu(i, vcpu, kvm)
		add_vcpu(vcpu, policy_id, &vm->counters);
}

/**
 * kvm_yield_read_vms - tell what the attached policy has done to each VM
 * @vms: where to
 * @nr: how many there is room for
 * @skip: how many VMs to pass over first
 *
 * VMs come and go between two calls, and so shift places.
 *
 * Context: process context, may sleep.
 * Return: how many VMs there are.
 */
int kvm_yield_read_vms(struct kvm_yield_vm_status *vms, unsigned int nr,
		       unsigned int skip)
{
	u64 policy_id = kvm_yield_policy_id();
	unsigned int i = 0;
	struct kvm *kvm;

	mutex_lock(&kvm_lock);
	list_for_each_entry(kvm, &vm_list, vm_list) {
		if (i >= skip && i - skip < nr)
			read_vm(kvm, policy_id, &vms[i - skip]);
		i++;
	}
	mutex_unlock(&kvm_lock);

	return min_t(unsigned int, i, INT_MAX);
}
