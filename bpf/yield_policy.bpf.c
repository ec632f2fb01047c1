// SPDX-License-Identifier: GPL-2.0
/*
 * yield_policy: the default.
 *
 * What it does: a vCPU that lost its CPU in kernel mode comes first, as it may
 * hold the lock; then one that has an interrupt to take, as it may owe the answer
 * to an IPI; among equals the one that has waited longest. A vCPU that spins
 * itself is passed over every other time, since it holds nothing but might wait
 * for the same thing. Vcpus in user mode with nothing pending are refused, unless
 * the spinner is in user mode too and so may wait for one of them.
 *
 * When to use it: on over-committed hosts whose guests spin on locks and IPIs.
 * It differs from KVM's own code in two ways: it sees pending interrupts also
 * where APIC virtualisation is off, and it goes by the time waited, not by turns.
 *
 * When not: where no pause-loop exits are seen (`kvmyield status`: spins stays
 * at 0), there is nothing to decide.
 *
 * From: the ranking that KVM has used since 2021, with the order among equals
 * taken from the time waited.
 */
#include "kvmyield.bpf.h"

KVMYIELD_DESC("default: kernel mode, then pending interrupts, then who waits longest");

/* Two bits above the time waited; together they stay below KVM_YIELD_TAKE. */
#define CLASS_KERNEL	(1 << 30)
#define MAX_WAIT	((1 << 29) - 1)
#define CLASS_INTERRUPT	(1 << 29)

static s32 wait_score(const struct kvm_yield_candidate *cand)
{
	s32 us = kvmyield_wait_us(cand);

	return us < MAX_WAIT ? us : MAX_WAIT;
}

SEC("struct_ops/rank")
s32 BPF_PROG(yield_policy_rank, struct kvm_yield_spin *spin,
	     struct kvm_yield_candidate *cand)
{
	s32 score = wait_score(cand);

	/* Woken and not yet running: it has something to do, of unknown mode. */
	if (!(cand->facts & KVM_YIELD_PREEMPTED) ||
	    cand->facts & KVM_YIELD_KERNEL)
		score += CLASS_KERNEL;
	else if (cand->facts & KVM_YIELD_INTERRUPT)
		score += CLASS_INTERRUPT;
	else if (spin->kernel_only)
		return KVM_YIELD_REFUSE;

	return kvmyield_eligible(cand) ? score : KVM_YIELD_REFUSE;
}

KVMYIELD_POLICY(yield_policy, .rank = (void *)yield_policy_rank);
