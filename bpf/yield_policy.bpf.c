// SPDX-License-Identifier: GPL-2.0
/*
 * yield_policy: the default. Uses all that is known.
 *
 * What it does: gives each candidate the greatest weight among what is true of
 * it, and among equals prefers the one that has waited longest. By default:
 *
 *	4	ipi_from_spinner: this spinner sent it an IPI that it has not taken
 *	3	critical: in a critical section by the guest's hint, or interrupts off
 *	2	kicked: next to get a paravirtual lock
 *	1	kernel: preempted in kernel mode, or woken and not run since
 *	1	ipi, interrupt: any other IPI or interrupt is pending
 *
 * A spinner with interrupts off cannot be waiting for the answer to an IPI: its
 * own IPIs count as anybody's then. Of whom none of these is true is refused,
 * unless the spinner is in user mode too and so may wait for one of them. One
 * that spins itself is passed over every other time.
 *
 * Why this order: an IPI of this spinner is the only fact about what this spinner
 * waits for, and it is over as soon as the receiver has run once: a wrong guess
 * costs one yield. The hint says "critical" also of vCPUs that wait for a lock,
 * and goes on saying so. Receivers of interrupts rank with kernel mode because
 * upstream found them worse off behind it. The longest waiting among equals lost
 * its CPU before the others came to wait for it.
 *
 * When to use it: on over-committed hosts whose guests spin on locks and IPIs.
 * Guests need not share a hint. Without hints and known senders it is ipi_boost
 * with another order among equals. A weight of 0 makes a fact count for nothing;
 * longest_first=false takes turns among equals, as KVM's own code does.
 *
 * When not: where no pause-loop exits are seen (`kvmyield status`: spins stays
 * at 0), there is nothing to decide.
 *
 * From: the work that the other policies here name, one idea each. The boost of
 * kicked vCPUs is from "KVM: X86: Boost queue head vCPU to mitigate lock waiter
 * preemption" (2019).
 */
#include "kvmyield.bpf.h"
#include "kvmyield_preempt.bpf.h"

KVMYIELD_DESC("default: own IPIs, critical sections, kicked, kernel mode; longest waiting first");

KVMYIELD_PARAM(u8, ipi_from_spinner, 4);
KVMYIELD_PARAM(u8, critical, 3);
KVMYIELD_PARAM(u8, kicked, 2);
KVMYIELD_PARAM(u8, kernel, 1);
KVMYIELD_PARAM(u8, ipi, 1);
KVMYIELD_PARAM(u8, interrupt, 1);
KVMYIELD_PARAM(bool, longest_first, true);

/*
 * The weight, eight bits, stands above the time waited, 22 bits in units of 4 us:
 * up to 17 s, and together below KVM_YIELD_TAKE whatever the parameters are.
 */
#define WAIT_BITS	22
#define WAIT_SHIFT	12

static inline u32 wait_part(const struct kvm_yield_candidate *cand)
{
	const u64 max = (1 << WAIT_BITS) - 1;
	u64 wait = cand->wait_ns >> WAIT_SHIFT;

	if (!longest_first)
		return 0;

	return wait < max ? wait : max;
}

#define USEFUL	(KVM_YIELD_KERNEL | KVM_YIELD_IRQS_OFF | KVM_YIELD_KICKED |	\
		 KVM_YIELD_INTERRUPT | KVM_YIELD_IPI | KVM_YIELD_IPI_FROM_SPINNER)

/* The facts that count, with those that come to the same made the same. */
static inline u32 what_counts(const struct kvm_yield_spin *spin,
			      const struct kvm_yield_candidate *cand)
{
	u32 facts = cand->facts;

	if (kvmyield_in_critical_section(cand))
		facts |= KVM_YIELD_IRQS_OFF;
	if (!(facts & KVM_YIELD_PREEMPTED))
		facts |= KVM_YIELD_KERNEL;
	if (spin->facts & KVM_YIELD_IRQS_OFF)
		facts &= ~KVM_YIELD_IPI_FROM_SPINNER;

	return facts & USEFUL;
}

static inline u32 greatest_weight(u32 facts)
{
	u32 weight = 0;

	if (facts & KVM_YIELD_IPI_FROM_SPINNER)
		weight = ipi_from_spinner;
	if (facts & KVM_YIELD_IRQS_OFF && critical > weight)
		weight = critical;
	if (facts & KVM_YIELD_KICKED && kicked > weight)
		weight = kicked;
	if (facts & KVM_YIELD_KERNEL && kernel > weight)
		weight = kernel;
	if (facts & KVM_YIELD_IPI && ipi > weight)
		weight = ipi;
	if (facts & KVM_YIELD_INTERRUPT && interrupt > weight)
		weight = interrupt;

	return weight;
}

SEC("struct_ops/rank")
s32 BPF_PROG(yield_policy_rank, struct kvm_yield_spin *spin,
	     struct kvm_yield_candidate *cand)
{
	u32 facts = what_counts(spin, cand);

	if (spin->kernel_only && !facts)
		return KVM_YIELD_REFUSE;
	if (!kvmyield_eligible(cand))
		return KVM_YIELD_REFUSE;

	return greatest_weight(facts) << WAIT_BITS | wait_part(cand);
}

KVMYIELD_POLICY(yield_policy, .rank = (void *)yield_policy_rank);
