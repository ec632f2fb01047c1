// SPDX-License-Identifier: GPL-2.0
/*
 * ipi_boost: receivers of an interrupt rank with vCPUs in kernel mode.
 *
 * What it does: takes the first candidate of the round that was preempted in
 * kernel mode, was woken and has not run since, or has an interrupt pending,
 * which will bring it into kernel mode as soon as it runs. If KVM's caller does
 * not ask for kernel mode, anybody. One that spins itself is passed over every
 * other time.
 *
 * When to use it: it is builtin where APIC virtualisation is on, and what builtin
 * was meant to be where it is off: there KVM's own code sees no pending interrupt
 * at all. A good choice for guests that know nothing of this project.
 *
 * When not: where the sender of an IPI is known (ipi_pair), or guests share their
 * hint (critical_section). Every interrupt counts here, be it for a disk.
 *
 * From: "KVM: Boost vCPU candidate in user mode which is delivering interrupt"
 * (Wanpeng Li, 2021, Linux 5.13). Benchmarks that run in user mode and flush TLBs
 * in the kernel had shown that receivers of IPIs are not only in kernel mode.
 */
#include "kvmyield.bpf.h"

KVMYIELD_DESC("kernel mode or a pending interrupt, in turns: KVM since 2021");

SEC("struct_ops/rank")
s32 BPF_PROG(ipi_boost_rank, struct kvm_yield_spin *spin,
	     struct kvm_yield_candidate *cand)
{
	if (!kvmyield_useful(spin, cand))
		return KVM_YIELD_REFUSE;
	if (!kvmyield_eligible(cand))
		return KVM_YIELD_REFUSE;

	return KVM_YIELD_TAKE;
}

KVMYIELD_POLICY(ipi_boost, .rank = (void *)ipi_boost_rank);
