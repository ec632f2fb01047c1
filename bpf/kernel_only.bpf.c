// SPDX-License-Identifier: GPL-2.0
/*
 * kernel_only: vCPUs that lost their CPU in kernel mode, nobody else.
 *
 * What it does: takes the first candidate of the round that was preempted in
 * kernel mode, or was woken and has not run since. If KVM's caller does not ask
 * for kernel mode (a spinner in user mode on SVM), anybody. A vCPU in user mode
 * waits its turn whatever interrupt is pending for it. One that spins itself is
 * passed over every other time.
 *
 * When to use it: to see what the later ideas are worth. Beside builtin it lacks
 * just one thing, the pending interrupts.
 *
 * When not: where guests send IPIs and wait for the answers, as they do to flush
 * TLBs. The receivers are often in user mode, and their senders spin for long.
 *
 * From: the choice of KVM from Linux 5.3 to 5.12. Asking for kernel mode is from
 * 2017 ("KVM: add spinlock optimization framework"), woken vCPUs came in 2019
 * ("KVM: Boost vCPUs that are delivering interrupts").
 */
#include "kvmyield.bpf.h"

KVMYIELD_DESC("kernel mode and nobody else: KVM before 2021");

SEC("struct_ops/rank")
s32 BPF_PROG(kernel_only_rank, struct kvm_yield_spin *spin,
	     struct kvm_yield_candidate *cand)
{
	if (spin->kernel_only && !kvmyield_kernel_or_woken(cand))
		return KVM_YIELD_REFUSE;
	if (!kvmyield_eligible(cand))
		return KVM_YIELD_REFUSE;

	return KVM_YIELD_TAKE;
}

KVMYIELD_POLICY(kernel_only, .rank = (void *)kernel_only_rank);
