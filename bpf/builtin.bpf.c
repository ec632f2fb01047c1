// SPDX-License-Identifier: GPL-2.0
/*
 * builtin: the choices of 6.12's own kvm_vcpu_on_spin(), one for one.
 *
 * What it does: takes the first candidate of the round that KVM's own code would
 * take. That is a vCPU that was preempted in kernel mode (or for which hardware
 * holds an interrupt), or any if the spinner was in user mode on SVM; and which,
 * if it spins itself, was passed over at the last look.
 *
 * When to use it: as the other arm of a comparison. The difference to no policy
 * at all is the price of asking one.
 *
 * When not: in daily use. It is what KVM does without it.
 *
 * From: virt/kvm/kvm_main.c, Linux 6.12.
 */
#include "kvmyield.bpf.h"

KVMYIELD_DESC("the very choices of Linux 6.12's own code");

SEC("struct_ops/rank")
s32 BPF_PROG(builtin_rank, struct kvm_yield_spin *spin,
	     struct kvm_yield_candidate *cand)
{
	if (!kvmyield_in_kernel(spin, cand))
		return KVM_YIELD_REFUSE;
	if (!kvmyield_eligible(cand))
		return KVM_YIELD_REFUSE;

	return KVM_YIELD_TAKE;
}

KVMYIELD_POLICY(builtin, .rank = (void *)builtin_rank);
