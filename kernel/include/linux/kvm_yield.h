/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Programmable directed yield: what KVM and a yield policy say to each other.
 *
 * A policy is a BPF struct_ops map of type kvm_yield_ops. While one is
 * attached, kvm_vcpu_on_spin() asks it which vCPU the spinner should yield to.
 */
#ifndef __LINUX_KVM_YIELD_H
#define __LINUX_KVM_YIELD_H

#include <linux/jump_label_ratelimit.h>
#include <linux/types.h>

struct kvm;
struct kvm_vcpu;
struct module;

#define KVM_YIELD_NAME_LEN	32

/*
 * How often in a row one vCPU may be yielded to before KVM's own code decides a
 * spin: a policy, or a guest that lies to it, cannot keep the others waiting.
 */
#define KVM_YIELD_MAX_STREAK	5

/* Pairs of sender and vector that are remembered for each receiver of IPIs. */
#define KVM_YIELD_MAX_IPIS	8

/**
 * enum kvm_yield_score - the scores with a meaning of their own
 * @KVM_YIELD_REFUSE: do not yield to this candidate; so does any negative score
 * @KVM_YIELD_TAKE: yield to this candidate now and look no further
 *
 * Every other score, 0 to KVM_YIELD_TAKE - 1, ranks: the highest is tried
 * first, and equals are tried in round-robin order.
 */
enum kvm_yield_score {
	KVM_YIELD_REFUSE	= -1,
	KVM_YIELD_TAKE		= 0x7fffffff,
};

/**
 * enum kvm_yield_fact - what is known about a vCPU
 * @KVM_YIELD_PREEMPTED: lost its CPU while it was running guest code; the
 *	opposite of KVM_YIELD_WOKEN
 * @KVM_YIELD_KERNEL: was at CPL 0 (in kernel mode) when it lost its CPU. Only
 *	with KVM_YIELD_PREEMPTED; for the spinner, its mode now. Always set where
 *	the guest's registers are encrypted (SEV-ES), as in KVM's own code.
 * @KVM_YIELD_INTERRUPT: an interrupt is pending that it has not taken: in the
 *	local APIC's IRR, posted by hardware, or caught half-way in injection.
 *	Interrupts of an APIC that user space emulates are seen only then.
 * @KVM_YIELD_APICV_INTERRUPT: an interrupt is pending in hardware's virtual
 *	APIC, which is all that KVM's own code looks at. Never set where APIC
 *	virtualisation is off.
 * @KVM_YIELD_SPINNING: is itself in a pause-loop exit
 * @KVM_YIELD_WAIT_VALID: &kvm_yield_candidate.wait_ns is known
 * @KVM_YIELD_IRQS_OFF: had interrupts disabled when it lost its CPU; for the
 *	spinner, now. Only with KVM_YIELD_PREEMPTED. Of the code that ran, be it
 *	the guest or a guest of the guest. With SEV-ES, what the VMCB tells.
 * @KVM_YIELD_HINT_VALID: &kvm_yield_candidate.hint is what the guest's hint word
 *	was when the vCPU lost its CPU. Only with KVM_YIELD_PREEMPTED, and not
 *	while a guest of the guest ran: the word is not about that one.
 * @KVM_YIELD_IPI: an interrupt that another vCPU of the VM sent is pending.
 *	Known of IPIs that KVM delivers: all of them where APIC virtualisation is
 *	off, those to vCPUs that were not running under AVIC, those of the PV and
 *	Hyper-V hypercalls; not those that hardware delivers by itself.
 * @KVM_YIELD_IPI_FROM_SPINNER: the spinner sent such an interrupt. The last
 *	KVM_YIELD_MAX_IPIS pairs of sender and vector are kept for each receiver.
 * @KVM_YIELD_KICKED: was kicked by KVM_HC_KICK_CPU, as the waiter of a
 *	paravirtual lock is, and has not come out of a halt since
 * @KVM_YIELD_WOKEN: was woken from a halt and has not run since
 *
 * Facts are hints: another CPU may change them while they are being read. What
 * was recorded when a vCPU lost its CPU is known only if a policy was attached
 * then, and what was sent, only if one was attached when it was sent.
 */
enum kvm_yield_fact {
	KVM_YIELD_PREEMPTED		= 1 << 0,
	KVM_YIELD_KERNEL		= 1 << 1,
	KVM_YIELD_INTERRUPT		= 1 << 2,
	KVM_YIELD_APICV_INTERRUPT	= 1 << 3,
	KVM_YIELD_SPINNING		= 1 << 4,
	KVM_YIELD_WAIT_VALID		= 1 << 5,
	KVM_YIELD_IRQS_OFF		= 1 << 6,
	KVM_YIELD_HINT_VALID		= 1 << 7,
	KVM_YIELD_IPI			= 1 << 8,
	KVM_YIELD_IPI_FROM_SPINNER	= 1 << 9,
	KVM_YIELD_KICKED		= 1 << 10,
	KVM_YIELD_WOKEN			= 1 << 11,
};

/* Facts that are counted; there is room for some more. */
#define KVM_YIELD_MAX_FACTS	16

/**
 * struct kvm_yield_spin - the spinner, and the VM around it
 * @vcpu: the vCPU that spins; trusted, the running one
 * @index: its index among the VM's vCPUs, 0 to @nr_vcpus - 1
 * @facts: bit set of &enum kvm_yield_fact: KVM_YIELD_KERNEL, KVM_YIELD_IRQS_OFF
 * @nr_vcpus: how many vCPUs the VM has
 * @nr_ready: how many of the others were waiting for a CPU when the spin began
 * @kernel_only: KVM's caller asks for vCPUs in kernel mode only. Set on each
 *	exit of VMX, of Hyper-V and Xen guests' yield calls, and of SVM from
 *	kernel mode. KVM's own code obeys; a policy may.
 */
struct kvm_yield_spin {
	struct kvm_vcpu	*vcpu;
	u32		index;
	u32		facts;
	u32		nr_vcpus;
	u32		nr_ready;
	bool		kernel_only;
};

/**
 * struct kvm_yield_candidate - a vCPU that could be yielded to
 * @vcpu: the candidate; trusted, and never the spinner
 * @wait_ns: nanoseconds since it became ready to run, by local_clock(); 0
 *	without KVM_YIELD_WAIT_VALID (it became ready before the first policy
 *	was attached)
 * @index: its index among the VM's vCPUs
 * @facts: bit set of &enum kvm_yield_fact
 * @hint: the word that the guest shares by MSR_KVM_PREEMPT_COUNT, as it was when
 *	the vCPU lost its CPU; 0 without KVM_YIELD_HINT_VALID. It is the guest's
 *	own word about itself, and no bit of it means anything to KVM.
 * @streak: how often in a row this vCPU was the one yielded to, 0 to
 *	KVM_YIELD_MAX_STREAK
 * @dy_eligible: kvm_vcpu.spin_loop.dy_eligible. rank() may write it, and what
 *	it wrote is what the next look at this vCPU finds, until its present
 *	spin ends. KVM's own code keeps here whether a vCPU that is itself
 *	spinning has had its turn to be passed over.
 */
struct kvm_yield_candidate {
	struct kvm_vcpu	*vcpu;
	u64		wait_ns;
	u32		index;
	u32		facts;
	u32		hint;
	u32		streak;
	bool		dy_eligible;
};

/**
 * struct kvm_yield_ops - a yield policy
 * @rank: Score one candidate. Required.
 *	Called for each vCPU of the spinner's VM that is ready to run and is not
 *	running, in round-robin order from the one after the last that was
 *	yielded to, until a score is KVM_YIELD_TAKE and that yield succeeds.
 *	Returns a score (&enum kvm_yield_score). Up to three yields are tried.
 *	Runs in the spinner's context under rcu_read_lock(), may be preempted,
 *	must not sleep.
 * @yielded: Learn what became of a choice. Optional.
 *	@ret is positive when the candidate's task was given the CPU (the
 *	spinner has run again since), 0 when it could not be (it was running
 *	already, has no task, or has another scheduling class), -ESRCH when
 *	neither CPU had anything else to run. Not called if the policy was
 *	replaced in the meantime. Context as rank().
 * @vm_pid: the VM to which the policy applies, by the pid of its VMM; 0: all.
 *	Only 0 is accepted so far, any other value is refused with -EOPNOTSUPP.
 * @name: for people: 1 to KVM_YIELD_NAME_LEN - 1 of [A-Za-z0-9_.-]
 *
 * Attached by a BPF link only, one at a time: a second one gets -EBUSY, and
 * -ENODEV is returned while no vendor module (kvm-amd, kvm-intel) is loaded.
 * The link can be updated to another policy at any time (the old or the new one
 * decides each spin, never neither), except when it was ejected: -ESTALE.
 */
struct kvm_yield_ops {
	s32	(*rank)(const struct kvm_yield_spin *spin,
			struct kvm_yield_candidate *cand);
	void	(*yielded)(const struct kvm_yield_spin *spin,
			   const struct kvm_yield_candidate *cand, int ret);
	s32	vm_pid;
	char	name[KVM_YIELD_NAME_LEN];
};

/**
 * struct kvm_yield_counters - what a policy has done since it was attached, to
 * all VMs or to one
 * @spins: pause-loop exits that were the policy's to decide
 * @candidates: calls of rank()
 * @tries: yields tried
 * @yields: yields that succeeded
 * @refused: spins with candidates of which the policy chose none
 * @overruled: those of @refused in which KVM's own code would have chosen
 * @bounded: spins left to KVM's own code because one vCPU had been yielded to
 *	KVM_YIELD_MAX_STREAK times in a row
 * @seen: for each &enum kvm_yield_fact, by number of its bit: calls of rank() in
 *	which it was true of the candidate
 * @chosen: of @yields, how often it was true of the vCPU yielded to
 */
struct kvm_yield_counters {
	u64	spins;
	u64	candidates;
	u64	tries;
	u64	yields;
	u64	refused;
	u64	overruled;
	u64	bounded;
	u64	seen[KVM_YIELD_MAX_FACTS];
	u64	chosen[KVM_YIELD_MAX_FACTS];
};

/**
 * enum kvm_yield_exit_reason - why KVM detached a policy by itself
 * @KVM_YIELD_EXIT_NONE: it did not
 * @KVM_YIELD_EXIT_REFUSALS: the policy chose nobody, the budget of times in a
 *	row, where KVM's own code would have chosen somebody
 */
enum kvm_yield_exit_reason {
	KVM_YIELD_EXIT_NONE,
	KVM_YIELD_EXIT_REFUSALS,
};

/**
 * struct kvm_yield_status - what bpf_kvm_yield_status() reports
 * @id: number of the attached policy, counted from 1; 0: none is attached
 * @age_ns: nanoseconds since it was attached
 * @link_id: id of its BPF link
 * @facts: the facts that this host can supply (&enum kvm_yield_fact)
 * @budget: refusals in a row after which a policy is ejected; 0: never
 * @max_streak: KVM_YIELD_MAX_STREAK
 * @name: the policy's name
 * @counters: what it has done
 * @exit_id: number of the last policy that KVM ejected; 0: none
 * @exit_link_id: id of that policy's BPF link
 * @exit_reason: &enum kvm_yield_exit_reason
 * @exit_refusals: its refusals in a row
 * @exit_name: its name
 */
struct kvm_yield_status {
	u64				id;
	u64				age_ns;
	u32				link_id;
	u32				facts;
	u32				budget;
	u32				max_streak;
	char				name[KVM_YIELD_NAME_LEN];
	struct kvm_yield_counters	counters;
	u64				exit_id;
	u32				exit_link_id;
	u32				exit_reason;
	u32				exit_refusals;
	char				exit_name[KVM_YIELD_NAME_LEN];
};

/**
 * enum kvm_yield_vm_flag - why a VM lacks some facts
 * @KVM_YIELD_VM_ENCRYPTED: its memory is encrypted or private: no hints
 * @KVM_YIELD_VM_USER_APIC: its local APICs are emulated by user space
 * @KVM_YIELD_VM_APICV: APIC virtualisation is active: hardware delivers
 *	interrupts to running vCPUs by itself
 */
enum kvm_yield_vm_flag {
	KVM_YIELD_VM_ENCRYPTED	= 1 << 0,
	KVM_YIELD_VM_USER_APIC	= 1 << 1,
	KVM_YIELD_VM_APICV	= 1 << 2,
};

/**
 * struct kvm_yield_vm_status - what bpf_kvm_yield_vms() reports of one VM
 * @pid: process id of its VMM
 * @nr_vcpus: how many vCPUs it has
 * @nr_hinted: how many of them share a hint word
 * @flags: bit set of &enum kvm_yield_vm_flag
 * @counters: what the attached policy has done to it, as far as those vCPUs
 *	that still exist have spun
 */
struct kvm_yield_vm_status {
	s32				pid;
	u32				nr_vcpus;
	u32				nr_hinted;
	u32				flags;
	struct kvm_yield_counters	counters;
};

#ifdef CONFIG_KVM_YIELD_BPF

/**
 * struct kvm_yield_vcpu - the hook's part of struct kvm_vcpu
 * @ready_since: local_clock() when the vCPU last became ready
 * @out_since: local_clock() when it last lost its CPU, and @out_facts and @hint
 *	were recorded
 * @out_facts: what was true then
 * @hint: the guest's hint word then
 * @sending: it is sending an IPI just now
 * @ipis: the IPIs sent to it last, packed (arch/x86/kvm/yield_ipi.c)
 * @counted_id: number of the policy to which @counters belong
 * @counters: what that policy has decided for this vCPU's spins; written by
 *	its own thread only
 */
struct kvm_yield_vcpu {
	u64				ready_since;
	u64				out_since;
	u32				out_facts;
	u32				hint;
	bool				sending;
	u64				ipis[KVM_YIELD_MAX_IPIS];
	u64				counted_id;
	struct kvm_yield_counters	counters;
};

/**
 * struct kvm_yield_vm - the hook's part of struct kvm
 * @streak: how often in a row the last boosted vCPU was
 * @encrypted: the VM's memory cannot be read by the host
 * @note_ipi: kvm_yield_note_ipi() for vendor modules; a pointer, so that kvm.ko
 *	exports no symbol that it does not export without the hook
 *
 * Written by spinners without a lock, as kvm.last_boosted_vcpu is: a lost
 * update makes a streak shorter or longer by as many vCPUs as raced.
 */
struct kvm_yield_vm {
	u32	streak;
	bool	encrypted;
	void	(*note_ipi)(struct kvm_vcpu *receiver, u8 vector);
};

extern struct static_key_false_deferred kvm_yield_enabled;

bool __kvm_yield_on_spin(struct kvm_vcpu *me, bool kernel_only);
void __kvm_yield_note_ready(struct kvm_vcpu *vcpu);
void __kvm_yield_note_preempted(struct kvm_vcpu *vcpu);

/**
 * kvm_yield_on_spin - let the attached policy decide a spin
 * @me: the spinning vCPU, loaded
 * @kernel_only: as in kvm_vcpu_on_spin()
 *
 * Context: process context of @me's task, preemptible. May schedule.
 * Return: true if the spin has been decided; false if KVM's own code shall.
 */
static inline bool kvm_yield_on_spin(struct kvm_vcpu *me, bool kernel_only)
{
	return static_branch_unlikely(&kvm_yield_enabled.key) &&
	       __kvm_yield_on_spin(me, kernel_only);
}

/**
 * kvm_yield_note_ready - note that a vCPU was woken and waits for a CPU
 * @vcpu: the vCPU; call it before kvm_vcpu.ready is set
 *
 * Context: any in which kvm_vcpu.ready may be set, with interrupts on or off.
 */
static inline void kvm_yield_note_ready(struct kvm_vcpu *vcpu)
{
	if (static_branch_unlikely(&kvm_yield_enabled.key))
		__kvm_yield_note_ready(vcpu);
}

/**
 * kvm_yield_note_preempted - record what a vCPU was doing when it lost its CPU
 * @vcpu: the vCPU, still loaded; call it before kvm_vcpu.ready is set
 *
 * Context: kvm_sched_out(): interrupts off, the run queue locked.
 */
static inline void kvm_yield_note_preempted(struct kvm_vcpu *vcpu)
{
	if (static_branch_unlikely(&kvm_yield_enabled.key))
		__kvm_yield_note_preempted(vcpu);
}

u64 kvm_yield_enabled_since(void);

u32 kvm_arch_yield_facts(struct kvm_vcpu *vcpu, struct kvm_vcpu *spinner);
u32 kvm_arch_yield_fact_mask(void);
u32 kvm_arch_yield_spinner_facts(struct kvm_vcpu *me);
u32 kvm_arch_yield_record(struct kvm_vcpu *vcpu, u32 *hint);
void kvm_arch_yield_vm_status(struct kvm *kvm, struct kvm_yield_vm_status *vm);

int kvm_yield_bpf_init(void);
void kvm_yield_bpf_exit(void);
void kvm_yield_set_vendor(struct module *vendor);
void kvm_yield_clear_vendor(void);

#else /* !CONFIG_KVM_YIELD_BPF */

static inline bool kvm_yield_on_spin(struct kvm_vcpu *me, bool kernel_only)
{
	return false;
}

static inline void kvm_yield_note_ready(struct kvm_vcpu *vcpu) { }
static inline void kvm_yield_note_preempted(struct kvm_vcpu *vcpu) { }

static inline int kvm_yield_bpf_init(void)
{
	return 0;
}

static inline void kvm_yield_bpf_exit(void) { }
static inline void kvm_yield_set_vendor(struct module *vendor) { }
static inline void kvm_yield_clear_vendor(void) { }

#endif /* CONFIG_KVM_YIELD_BPF */

#endif /* __LINUX_KVM_YIELD_H */
