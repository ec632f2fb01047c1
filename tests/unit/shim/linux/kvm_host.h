/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The members of a VM and of its vCPUs that the yield hook looks at. What the
 * real KVM would compute from hardware is a variable here, named fake_.
 */
#ifndef __SHIM_LINUX_KVM_HOST_H
#define __SHIM_LINUX_KVM_HOST_H

#include <linux/bitmap.h>
#include <linux/kvm_yield.h>
#include <linux/mutex.h>
#include <linux/types.h>

/* As in Debian's configuration. */
#define KVM_MAX_VCPUS	4096

/* A list of VMs only, and nothing is ever taken out of it. */
struct list_head {
	struct kvm	*fake_first;
	struct kvm	*fake_next;
};

#define list_for_each_entry(pos, head, member)				\
	for ((pos) = (head)->fake_first; (pos); (pos) = (pos)->member.fake_next)

extern struct mutex kvm_lock;
extern struct list_head vm_list;

struct kvm {
	struct list_head	vm_list;
	int			userspace_pid;
	atomic_t		online_vcpus;
	int			last_boosted_vcpu;
	struct kvm_yield_vm	yield;
	struct kvm_vcpu		*fake_vcpus[KVM_MAX_VCPUS];
};

struct kvm_lapic {
	u8			regs[4096];
};

struct kvm_vcpu {
	struct kvm		*kvm;
	int			vcpu_idx;
	bool			preempted;
	bool			ready;
	struct {
		bool		in_spin_loop;
		bool		dy_eligible;
	} spin_loop;
	struct kvm_yield_vcpu	yield;
	struct {
		struct kvm_lapic	*apic;
		struct {
			bool		injected;
			u8		nr;
		} interrupt;
	} arch;
	bool			fake_in_kernel;
	bool			fake_preempted_in_kernel;
	bool			fake_blocking;
	bool			fake_dy_runnable;
	bool			fake_posted;
	u32			fake_facts;
	u32			fake_out_facts;
	u32			fake_hint;
	int			fake_eligible_writes;
};

static inline struct kvm_vcpu *kvm_get_vcpu(struct kvm *kvm, int i)
{
	return i < atomic_read(&kvm->online_vcpus) ? kvm->fake_vcpus[i] : NULL;
}

/* Linux's ends at online_vcpus - 1, unsigned: at 0 it finds those not counted. */
#define kvm_for_each_vcpu(idx, vcpup, kvm)				\
	for ((idx) = 0;							\
	     (idx) < KVM_MAX_VCPUS &&					\
	     (idx) <= (unsigned long)(atomic_read(&(kvm)->online_vcpus) - 1) && \
	     ((vcpup) = (kvm)->fake_vcpus[idx]);			\
	     (idx)++)

static inline void kvm_vcpu_set_in_spin_loop(struct kvm_vcpu *vcpu, bool val)
{
	vcpu->spin_loop.in_spin_loop = val;
}

static inline void kvm_vcpu_set_dy_eligible(struct kvm_vcpu *vcpu, bool val)
{
	vcpu->spin_loop.dy_eligible = val;
	vcpu->fake_eligible_writes++;
}

static inline bool kvm_vcpu_is_blocking(struct kvm_vcpu *vcpu)
{
	return vcpu->fake_blocking;
}

static inline bool kvm_arch_vcpu_in_kernel(struct kvm_vcpu *vcpu)
{
	return vcpu->fake_in_kernel;
}

static inline bool kvm_arch_vcpu_preempted_in_kernel(struct kvm_vcpu *vcpu)
{
	return vcpu->fake_preempted_in_kernel;
}

static inline bool kvm_arch_dy_has_pending_interrupt(struct kvm_vcpu *vcpu)
{
	return vcpu->fake_posted;
}

struct kvm_vcpu *kvm_get_running_vcpu(void);
int kvm_vcpu_yield_to(struct kvm_vcpu *target);

#endif
