/* SPDX-License-Identifier: GPL-2.0 */
/* When the files of a VM in debugfs are created, if at all. */
#ifndef __KVM_VM_DEBUGFS_H
#define __KVM_VM_DEBUGFS_H

#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct kvm;
struct kvm_vcpu;

/**
 * enum kvm_vm_debugfs_mode - what is created for a VM; fixed when it is created
 * @KVM_VM_DEBUGFS_FULL: all its files, before KVM_CREATE_VM returns
 * @KVM_VM_DEBUGFS_LAZY: its directory, and vcpuN/pid with each vCPU; the rest
 *	asynchronously, when the VM has had time to start
 * @KVM_VM_DEBUGFS_OFF: nothing
 */
enum kvm_vm_debugfs_mode {
	KVM_VM_DEBUGFS_FULL,
	KVM_VM_DEBUGFS_LAZY,
	KVM_VM_DEBUGFS_OFF,
};

/* In kvm_main.c, which has the files' operations. */
int kvm_create_vm_debugfs_stats(struct kvm *kvm);

#ifdef CONFIG_KVM_VM_DEBUGFS

/**
 * struct kvm_vm_debugfs - what is still to be created; valid if the VM has a
 *	directory
 * @lock: held while vCPUs' directories or the files put off are created, so
 *	that each is created once
 * @pending: there are files put off; protected by @lock
 * @work: creates them
 */
struct kvm_vm_debugfs {
	struct mutex		lock;	/* as above */
	bool			pending;
	struct delayed_work	work;
};

enum kvm_vm_debugfs_mode kvm_vm_debugfs_mode(void);
void kvm_vm_debugfs_init(struct kvm *kvm, bool put_off);
void kvm_vm_debugfs_cancel(struct kvm *kvm);
void kvm_vm_debugfs_lock(struct kvm *kvm);
void kvm_vm_debugfs_unlock(struct kvm *kvm);
bool kvm_vm_debugfs_put_off(struct kvm *kvm);

#else

struct kvm_vm_debugfs {
};

static inline enum kvm_vm_debugfs_mode kvm_vm_debugfs_mode(void)
{
	return KVM_VM_DEBUGFS_OFF;
}

static inline void kvm_vm_debugfs_init(struct kvm *kvm, bool put_off) {}
static inline void kvm_vm_debugfs_cancel(struct kvm *kvm) {}
static inline void kvm_vm_debugfs_lock(struct kvm *kvm) {}
static inline void kvm_vm_debugfs_unlock(struct kvm *kvm) {}

static inline bool kvm_vm_debugfs_put_off(struct kvm *kvm)
{
	return false;
}

#endif /* CONFIG_KVM_VM_DEBUGFS */

#endif /* __KVM_VM_DEBUGFS_H */
