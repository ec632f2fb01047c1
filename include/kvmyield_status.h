/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the loader's BPF programs tell the loader about the hook: the kernel's
 * struct kvm_yield_status in a layout that does not change with the kernel, and
 * where in struct kvm_yield_vm_status this kernel has what.
 * Included by both sides; needs __u16, __u32 and __u64.
 */
#ifndef KVMYIELD_STATUS_H
#define KVMYIELD_STATUS_H

#define KVMYIELD_NAME_LEN	32
#define KVMYIELD_MAX_FACTS	16

/**
 * struct kvmyield_counters - struct kvm_yield_counters
 * @spins: pause-loop exits that were the policy's to decide
 * @candidates: calls of rank()
 * @tries: yields tried
 * @yields: yields that succeeded
 * @refused: spins with candidates of which the policy chose none
 * @overruled: those in which KVM's own code would have chosen
 * @bounded: spins left to KVM's own code, by the bound on streaks
 * @seen: calls of rank() in which a fact was true of the candidate
 * @chosen: successful yields in which it was
 */
struct kvmyield_counters {
	__u64	spins;
	__u64	candidates;
	__u64	tries;
	__u64	yields;
	__u64	refused;
	__u64	overruled;
	__u64	bounded;
	__u64	seen[KVMYIELD_MAX_FACTS];
	__u64	chosen[KVMYIELD_MAX_FACTS];
};

/**
 * struct kvmyield_status - the hook's state
 * @ret: what the kernel returned: the size of its report, or a negative errno
 * @id: number of the attached policy, from 1; 0: none
 * @age_ns: nanoseconds since it was attached
 * @link_id: id of its BPF link
 * @facts: bit set of enum kvm_yield_fact that this host can supply
 * @budget: refusals in a row after which a policy is ejected; 0: never
 * @max_streak: how often in a row one vCPU may be yielded to
 * @counts_facts: the kernel has @counters.seen and @counters.chosen
 * @counters: what it has done
 * @exit_id: number of the policy that KVM ejected last; 0: none
 * @exit_link_id: id of its BPF link
 * @exit_reason: enum kvm_yield_exit_reason
 * @exit_refusals: its refusals in a row
 * @name: the attached policy's name
 * @exit_name: the ejected policy's name
 */
struct kvmyield_status {
	__s32	ret;
	__u32	link_id;
	__u64	id;
	__u64	age_ns;
	__u32	facts;
	__u32	budget;
	__u32	max_streak;
	__u32	exit_link_id;
	__u32	counts_facts;
	__u64	exit_id;
	__u32	exit_reason;
	__u32	exit_refusals;
	char	name[KVMYIELD_NAME_LEN];
	char	exit_name[KVMYIELD_NAME_LEN];
	struct kvmyield_counters counters;
};

/**
 * struct kvmyield_field - a member of one of the kernel's structs
 * @offset: where it begins
 * @size: how long it is; 0: this kernel does not have it
 */
struct kvmyield_field {
	__u16	offset;
	__u16	size;
};

/**
 * struct kvmyield_vms - the VMs, as the kernel left them in the map "vms"
 * @ret: how many VMs there are, or a negative errno
 * @size: sizeof(struct kvm_yield_vm_status)
 * @id: number of the policy that was attached before they were looked at
 * @pid: and the rest: the members of struct kvm_yield_vm_status, and of its
 *	counters
 */
struct kvmyield_vms {
	__s32	ret;
	__u32	size;
	__u64	id;
	struct kvmyield_field	pid;
	struct kvmyield_field	nr_vcpus;
	struct kvmyield_field	nr_hinted;
	struct kvmyield_field	flags;
	struct kvmyield_field	spins;
	struct kvmyield_field	candidates;
	struct kvmyield_field	tries;
	struct kvmyield_field	yields;
	struct kvmyield_field	refused;
	struct kvmyield_field	overruled;
	struct kvmyield_field	bounded;
	struct kvmyield_field	seen;
	struct kvmyield_field	chosen;
};

#endif /* KVMYIELD_STATUS_H */
