/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a yield policy includes: the types of the interface (from the kernel's
 * own BTF), libbpf's helpers, and the few lines every policy would repeat.
 *
 * A whole policy:
 *
 *	#include "kvmyield.bpf.h"
 *
 *	KVMYIELD_DESC("whoever has waited longest");
 *
 *	SEC("struct_ops/rank")
 *	s32 BPF_PROG(rank, struct kvm_yield_spin *spin,
 *		     struct kvm_yield_candidate *cand)
 *	{
 *		return kvmyield_wait_us(cand);
 *	}
 *
 *	KVMYIELD_POLICY(longest_wait, .rank = (void *)rank);
 *
 * The interface is described in kernel/include/linux/kvm_yield.h.
 */
#ifndef __KVMYIELD_BPF_H
#define __KVMYIELD_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

/* The kernel refuses struct_ops programs that are not GPL. */
char _license[] SEC("license") = "GPL";

/* One line, shown by `kvmyield list`. */
#define KVMYIELD_DESC(text)						\
	const char kvmyield_desc[] SEC("kvmyield.desc") = text

/* The struct_ops map: the name that is shown, and the programs. */
#define KVMYIELD_POLICY(policy, ...)					\
	SEC(".struct_ops.link")						\
	struct kvm_yield_ops policy = {					\
		.name = #policy,					\
		__VA_ARGS__						\
	}

/*
 * A parameter that `kvmyield load POLICY name=value` sets. (Unit tests have a
 * variable in its place.)
 */
#ifndef KVMYIELD_PARAM
#define KVMYIELD_PARAM(type, name, value)				\
	const volatile type name = value
#endif

static inline bool kvmyield_has(const struct kvm_yield_candidate *cand, u32 facts)
{
	return (cand->facts & facts) == facts;
}

/*
 * Would 6.12's own code yield to this one? It asks for kernel mode only of a
 * vCPU that was preempted, and takes hardware's pending interrupts for it.
 */
static inline bool kvmyield_in_kernel(const struct kvm_yield_spin *spin,
				      const struct kvm_yield_candidate *cand)
{
	return !spin->kernel_only || !(cand->facts & KVM_YIELD_PREEMPTED) ||
	       cand->facts & (KVM_YIELD_KERNEL | KVM_YIELD_APICV_INTERRUPT);
}

/*
 * Preempted in kernel mode; or woken and not run since, which 6.12's own code
 * takes without asking for its mode.
 */
static inline bool kvmyield_kernel_or_woken(const struct kvm_yield_candidate *cand)
{
	return !(cand->facts & KVM_YIELD_PREEMPTED) ||
	       cand->facts & KVM_YIELD_KERNEL;
}

/*
 * The same as 6.12's own code asks, of every pending interrupt and not only of
 * those that hardware holds.
 */
static inline bool kvmyield_useful(const struct kvm_yield_spin *spin,
				   const struct kvm_yield_candidate *cand)
{
	return !spin->kernel_only || kvmyield_kernel_or_woken(cand) ||
	       cand->facts & KVM_YIELD_INTERRUPT;
}

/* Microseconds waited, to rank by: at most a quarter of an hour. */
#define KVMYIELD_MAX_WAIT_US	((1 << 30) - 1)

static inline s32 kvmyield_wait_us(const struct kvm_yield_candidate *cand)
{
	u64 us = cand->wait_ns / 1000;

	return us < KVMYIELD_MAX_WAIT_US ? us : KVMYIELD_MAX_WAIT_US;
}

/*
 * 6.12's answer to vCPUs that spin themselves: every other look passes over
 * them, beginning with the first. To be asked last, as asking counts.
 */
static inline bool kvmyield_eligible(struct kvm_yield_candidate *cand)
{
	bool eligible = cand->dy_eligible;

	if (!(cand->facts & KVM_YIELD_SPINNING))
		return true;

	cand->dy_eligible = !eligible;
	return eligible;
}

#endif /* __KVMYIELD_BPF_H */
