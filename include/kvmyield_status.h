/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the loader's BPF program tells the loader about the hook: the kernel's
 * struct kvm_yield_status in a layout that does not change with the kernel.
 * Included by both sides; needs __u32 and __u64.
 */
#ifndef KVMYIELD_STATUS_H
#define KVMYIELD_STATUS_H

#define KVMYIELD_NAME_LEN	32

/**
 * struct kvmyield_status - the hook's state
 * @ret: what the kernel returned: the size of its report, or a negative errno
 * @id: number of the attached policy, from 1; 0: none
 * @age_ns: nanoseconds since it was attached
 * @link_id: id of its BPF link
 * @facts: bit set of enum kvm_yield_fact that this host can supply
 * @budget: refusals in a row after which a policy is ejected; 0: never
 * @max_streak: how often in a row one vCPU may be yielded to
 * @spins: and the rest up to @bounded: struct kvm_yield_counters
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
	__u64	spins;
	__u64	candidates;
	__u64	tries;
	__u64	yields;
	__u64	refused;
	__u64	overruled;
	__u64	bounded;
	__u64	exit_id;
	__u32	exit_reason;
	__u32	exit_refusals;
	char	name[KVMYIELD_NAME_LEN];
	char	exit_name[KVMYIELD_NAME_LEN];
};

#endif /* KVMYIELD_STATUS_H */
