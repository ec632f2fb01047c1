// SPDX-License-Identifier: GPL-2.0
/*
 * When the files of a VM in debugfs are created: with the VM, later, or never.
 *
 * Those of the statistics, seventy inodes and dentries on x86, are most of what
 * a short-lived VM costs in debugfs, and it is gone before anybody could look.
 */
#include <linux/debugfs.h>
#include <linux/jiffies.h>
#include <linux/kvm_host.h>
#include <linux/kvm_vm_debugfs.h>
#include <linux/memcontrol.h>
#include <linux/moduleparam.h>
#include <linux/sched/mm.h>
#include <linux/string.h>
#include <linux/sysfs.h>

/* Long for a VM to start in, short for a person to wait. */
#define PUT_OFF_BY	(HZ / 10)
/* There is no memory: somebody else needs it more. */
#define TRY_AGAIN_IN	HZ

static const char * const mode_names[] = {
	[KVM_VM_DEBUGFS_FULL] = "full",
	[KVM_VM_DEBUGFS_LAZY] = "lazy",
	[KVM_VM_DEBUGFS_OFF] = "off",
};

static enum kvm_vm_debugfs_mode vm_debugfs = KVM_VM_DEBUGFS_FULL;

static int vm_debugfs_set(const char *val, const struct kernel_param *kp)
{
	int mode = sysfs_match_string(mode_names, val);

	if (mode < 0)
		return mode;

	WRITE_ONCE(vm_debugfs, mode);
	return 0;
}

static int vm_debugfs_get(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%s\n", mode_names[READ_ONCE(vm_debugfs)]);
}

static const struct kernel_param_ops vm_debugfs_ops = {
	.set = vm_debugfs_set,
	.get = vm_debugfs_get,
};

module_param_cb(vm_debugfs, &vm_debugfs_ops, NULL, 0644);
MODULE_PARM_DESC(vm_debugfs,
		 "Files in debugfs for VMs created from now on: full (default); lazy: the directory and vcpuN/pid at once, the rest about 0.1 s later; off: none. Off gives up what only debugfs has, on x86 vcpuN/{pid,guest_mode,tsc-offset,lapic_timer_advance_ns,tsc-scaling-ratio} and mmu_rmaps_stat; the statistics remain, through KVM_GET_STATS_FD (kvmyield stats PID)");

/**
 * kvm_vm_debugfs_mode - what the next VM shall have
 *
 * Context: Any. Asked once for each VM: it may change at any time.
 * Return: The value of the parameter vm_debugfs.
 */
enum kvm_vm_debugfs_mode kvm_vm_debugfs_mode(void)
{
	return READ_ONCE(vm_debugfs);
}

/* A vCPU in the array that has no directory yet gets all its files with it. */
static void create_vcpu_files(struct kvm *kvm)
{
#ifdef __KVM_HAVE_ARCH_VCPU_DEBUGFS
	char name[sizeof("vcpu") + 10];
	struct kvm_vcpu *vcpu;
	struct dentry *dir;
	unsigned long i;

	kvm_for_each_vcpu(i, vcpu, kvm) {
		snprintf(name, sizeof(name), "vcpu%d", vcpu->vcpu_id);
		dir = debugfs_lookup(name, kvm->debugfs_dentry);
		if (!dir)
			continue;
		kvm_arch_create_vcpu_debugfs(vcpu, dir);
		dput(dir);
	}
#endif
}

static void create_rest(struct work_struct *work)
{
	struct kvm *kvm = container_of(to_delayed_work(work), struct kvm, vm_debugfs.work);
	struct kvm_vm_debugfs *d = &kvm->vm_debugfs;
	struct mem_cgroup *memcg, *old;

	/* Its maker pays, as if it had been done in KVM_CREATE_VM. */
	memcg = get_mem_cgroup_from_mm(kvm->mm);
	old = set_active_memcg(memcg);
	mutex_lock(&d->lock);

	if (kvm_create_vm_debugfs_stats(kvm)) {
		queue_delayed_work(system_unbound_wq, &d->work, TRY_AGAIN_IN);
		goto out;
	}
	create_vcpu_files(kvm);
	d->pending = false;
out:
	mutex_unlock(&d->lock);
	set_active_memcg(old);
	mem_cgroup_put(memcg);
}

/**
 * kvm_vm_debugfs_init - the VM has got its directory
 * @kvm: a VM that nobody else knows yet
 * @put_off: create the rest later
 *
 * Context: Process context.
 */
void kvm_vm_debugfs_init(struct kvm *kvm, bool put_off)
{
	struct kvm_vm_debugfs *d = &kvm->vm_debugfs;

	mutex_init(&d->lock);
	INIT_DELAYED_WORK(&d->work, create_rest);
	d->pending = put_off;
	if (put_off)
		queue_delayed_work(system_unbound_wq, &d->work, PUT_OFF_BY);
}

/**
 * kvm_vm_debugfs_cancel - create no more files of this VM
 * @kvm: a VM that has a directory and is being destroyed
 *
 * When it returns, nothing is being created either, and no more code of this
 * module runs for the VM.
 *
 * Context: Process context; may sleep. The caller does not hold the lock.
 */
void kvm_vm_debugfs_cancel(struct kvm *kvm)
{
	cancel_delayed_work_sync(&kvm->vm_debugfs.work);
}

/**
 * kvm_vm_debugfs_lock - before a vCPU's directory is created
 * @kvm: a VM that has a directory
 *
 * Context: Process context; may sleep.
 */
void kvm_vm_debugfs_lock(struct kvm *kvm)
{
	mutex_lock(&kvm->vm_debugfs.lock);
}

/**
 * kvm_vm_debugfs_unlock - after a vCPU's files were created, or put off
 * @kvm: the VM
 *
 * Context: Any that kvm_vm_debugfs_lock() was called in.
 */
void kvm_vm_debugfs_unlock(struct kvm *kvm)
{
	mutex_unlock(&kvm->vm_debugfs.lock);
}

/**
 * kvm_vm_debugfs_put_off - shall a new vCPU's files be created later?
 * @kvm: the VM
 *
 * While the VM is being put together, what was put off can wait longer.
 *
 * Context: kvm_vm_debugfs_lock() is held.
 * Return: True if they will be created with the rest of the VM's.
 */
bool kvm_vm_debugfs_put_off(struct kvm *kvm)
{
	struct kvm_vm_debugfs *d = &kvm->vm_debugfs;

	lockdep_assert_held(&d->lock);
	if (d->pending)
		mod_delayed_work(system_unbound_wq, &d->work, PUT_OFF_BY);

	return d->pending;
}
