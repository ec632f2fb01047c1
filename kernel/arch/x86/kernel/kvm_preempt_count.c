// SPDX-License-Identifier: GPL-2.0
/*
 * The guest's half of KVM's hint word: tell the host where each CPU keeps its
 * preempt_count, so that it can see which vCPU lost its CPU at a bad moment.
 *
 * Built into a guest's kernel or loaded as a module. The host only reads, and
 * what it reads is a hint: an address that is missing or out of date makes the
 * host choose worse among this VM's vCPUs and does no other harm.
 */
#define pr_fmt(fmt) "kvm_preempt_count: " fmt

#include <linux/cc_platform.h>
#include <linux/cpuhotplug.h>
#include <linux/init.h>
#include <linux/kdebug.h>
#include <linux/kvm_para.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/panic_notifier.h>
#include <linux/percpu.h>
#include <linux/reboot.h>
#include <linux/smp.h>
#include <linux/suspend.h>
#include <linux/workqueue.h>

#include <asm/current.h>
#include <asm/msr.h>
#include <asm/pgtable_types.h>
#include <asm/processor.h>
#include <asm/reboot.h>

/* The headers of a kernel that does not know them yet. */
#ifndef KVM_FEATURE_PREEMPT_COUNT
#define KVM_FEATURE_PREEMPT_COUNT	18
#endif
#ifndef MSR_KVM_PREEMPT_COUNT
#define MSR_KVM_PREEMPT_COUNT		0x4b564d09
#endif

static unsigned int rearm_secs = 10;
module_param(rearm_secs, uint, 0444);
MODULE_PARM_DESC(rearm_secs,
		 "seconds between looks whether the host still has the address, as it may not after a migration; 0: never look");

static int cpuhp_state;
static DEFINE_PER_CPU(struct delayed_work, rearm_work);

/*
 * Set while nothing may be shared: from the beginning of a suspend to its end,
 * and from a reboot on. Written before CPUs are asked to withdraw, and looked at
 * with interrupts off: a CPU that missed it gets the request after its write.
 */
static bool withdrawn;

static bool __init host_offers_it(void)
{
	u32 base;

	if (!kvm_para_available())
		return false;
	base = hypervisor_cpuid_base(KVM_SIGNATURE, 0);

	return base &&
	       cpuid_eax(base | KVM_CPUID_FEATURES) &
	       BIT(KVM_FEATURE_PREEMPT_COUNT);
}

/*
 * What this CPU writes to the MSR. The per-CPU area may be mapped page by page,
 * so the page tables are asked where it is.
 */
static u64 this_cpu_address(void)
{
	int *word = (int *)this_cpu_ptr(&pcpu_hot.preempt_count);

	BUILD_BUG_ON(sizeof(*word) != sizeof(u32));
	BUILD_BUG_ON(!IS_ALIGNED(offsetof(struct pcpu_hot, preempt_count),
				 sizeof(u32)));

	return (u64)slow_virt_to_phys(word) | KVM_MSR_ENABLED;
}

/* Share this CPU's word, unless the host has it already. */
static int share(void)
{
	unsigned long flags;
	u64 address, old;
	int err = 0;

	local_irq_save(flags);
	if (!READ_ONCE(withdrawn)) {
		address = this_cpu_address();
		err = rdmsrl_safe(MSR_KVM_PREEMPT_COUNT, &old);
		if (!err && old != address)
			err = wrmsrl_safe(MSR_KVM_PREEMPT_COUNT, address);
	}
	local_irq_restore(flags);

	return err;
}

/* A host that no longer knows the MSR has no address either: no error. */
static void withdraw(void)
{
	wrmsrl_safe(MSR_KVM_PREEMPT_COUNT, 0);
}

static void share_this_cpu(void *unused)
{
	if (share())
		pr_warn_once("the host does not take the address of CPU %d\n",
			     raw_smp_processor_id());
}

static void withdraw_this_cpu(void *unused)
{
	withdraw();
}

static void withdraw_all(void)
{
	WRITE_ONCE(withdrawn, true);
	on_each_cpu(withdraw_this_cpu, NULL, 1);
}

static void share_all(void)
{
	WRITE_ONCE(withdrawn, false);
	on_each_cpu(share_this_cpu, NULL, 1);
}

/*
 * A VMM that does not know the MSR loses it when it migrates the VM or restores
 * a snapshot, and nothing in the guest hears of that. So look now and then. An
 * idle CPU is not woken for it: it needs no hint.
 */
static void queue_rearm(unsigned int cpu)
{
	if (rearm_secs)
		queue_delayed_work_on(cpu, system_wq,
				      per_cpu_ptr(&rearm_work, cpu),
				      (unsigned long)rearm_secs * HZ);
}

static void rearm(struct work_struct *work)
{
	/* The VM may be on a host without the MSR now, and come back. */
	share();
	queue_rearm(smp_processor_id());
}

/* Nothing that goes wrong here is worth a CPU. */
static int hint_cpu_online(unsigned int cpu)
{
	INIT_DEFERRABLE_WORK(per_cpu_ptr(&rearm_work, cpu), rearm);
	share_this_cpu(NULL);
	queue_rearm(cpu);

	return 0;
}

static int hint_cpu_offline(unsigned int cpu)
{
	cancel_delayed_work_sync(per_cpu_ptr(&rearm_work, cpu));
	withdraw();

	return 0;
}

/*
 * Other CPUs than the first go offline and online in a suspend; the first may
 * come back with its MSRs reset, or, from hibernation, with those of the kernel
 * that loaded the image.
 */
static int pm_notify(struct notifier_block *nb, unsigned long event,
		     void *unused)
{
	switch (event) {
	case PM_HIBERNATION_PREPARE:
	case PM_SUSPEND_PREPARE:
	case PM_RESTORE_PREPARE:
		withdraw_all();
		break;
	case PM_POST_HIBERNATION:
	case PM_POST_SUSPEND:
	case PM_POST_RESTORE:
		share_all();
		break;
	}

	return NOTIFY_DONE;
}

static struct notifier_block pm_nb = {
	.notifier_call = pm_notify,
};

/*
 * Reboot, power off, kexec: what runs next has something else at that address.
 * A VMM that does not know the MSR does not clear it on reset either.
 */
static int reboot_notify(struct notifier_block *nb, unsigned long event,
			 void *unused)
{
	withdraw_all();

	return NOTIFY_DONE;
}

static struct notifier_block reboot_nb = {
	.notifier_call = reboot_notify,
};

/*
 * In a crash this CPU alone can still be made to do something; it is also the
 * one that goes on, in the kernel that writes the dump or in the firmware. The
 * others are halted, which keeps them from being yielded to, and are reset
 * before they run again.
 */
static int panic_notify(struct notifier_block *nb, unsigned long event,
			void *unused)
{
	WRITE_ONCE(withdrawn, true);
	withdraw();

	return NOTIFY_DONE;
}

static struct notifier_block panic_nb = {
	.notifier_call = panic_notify,
};

/* The kernel that writes the dump is started before the panic notifiers. */
#ifdef MODULE
/*
 * A module cannot reach crash_shutdown(), but hears of an oops, with which most
 * crashes begin. If the CPU lives on, rearm() shares its word again. What is
 * left is a panic() that nothing went before: then the dump is written with a
 * hint that does not change, on the only vCPU that runs.
 */
static int die_notify(struct notifier_block *nb, unsigned long event,
		      void *unused)
{
	if (event == DIE_OOPS)
		withdraw();

	return NOTIFY_DONE;
}

static struct notifier_block die_nb = {
	.notifier_call = die_notify,
};

static void hook_crash(void)
{
	register_die_notifier(&die_nb);
}

static void unhook_crash(void)
{
	unregister_die_notifier(&die_nb);
}
#elif defined(CONFIG_CRASH_DUMP)
static void (*next_crash_shutdown)(struct pt_regs *regs);

static void crash_shutdown(struct pt_regs *regs)
{
	WRITE_ONCE(withdrawn, true);
	withdraw();
	next_crash_shutdown(regs);
}

static void __init hook_crash(void)
{
	next_crash_shutdown = machine_ops.crash_shutdown;
	machine_ops.crash_shutdown = crash_shutdown;
}
#else
static void __init hook_crash(void) { }
#endif

/* Without a host for it a kernel that has it built in is as good as any. */
#ifdef MODULE
#define refuse(fmt, ...) pr_info(fmt, ##__VA_ARGS__)
#else
#define refuse(fmt, ...) pr_debug(fmt, ##__VA_ARGS__)
#endif

static int __init kvm_preempt_count_init(void)
{
	int err;

	if (!host_offers_it()) {
		refuse("the host does not offer to read a hint (KVM feature %d)\n",
		       KVM_FEATURE_PREEMPT_COUNT);
		refuse("hint: it takes kvmyield's KVM, and QEMU with -cpu host,migratable=no\n");
		return -ENODEV;
	}
	if (cc_platform_has(CC_ATTR_GUEST_MEM_ENCRYPT)) {
		refuse("this guest's memory is encrypted, and the host cannot read a hint in it\n");
		return -ENODEV;
	}

	err = share();
	if (err) {
		pr_err("the host offers to read a hint and does not take its address\n");
		return err;
	}

	err = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "x86/kvm_preempt_count:online",
				hint_cpu_online, hint_cpu_offline);
	if (err < 0) {
		withdraw_all();
		return err;
	}
	cpuhp_state = err;

	register_pm_notifier(&pm_nb);
	register_reboot_notifier(&reboot_nb);
	atomic_notifier_chain_register(&panic_notifier_list, &panic_nb);
	hook_crash();
	pr_info("the host may see when a vCPU is in a critical section\n");

	return 0;
}
module_init(kvm_preempt_count_init);

#ifdef MODULE
static void __exit kvm_preempt_count_exit(void)
{
	unhook_crash();
	atomic_notifier_chain_unregister(&panic_notifier_list, &panic_nb);
	unregister_reboot_notifier(&reboot_nb);
	unregister_pm_notifier(&pm_nb);
	cpuhp_remove_state(cpuhp_state);
}
module_exit(kvm_preempt_count_exit);
#endif

MODULE_DESCRIPTION("Share preempt_count with the KVM host, as a hint whom to yield to");
MODULE_LICENSE("GPL");
