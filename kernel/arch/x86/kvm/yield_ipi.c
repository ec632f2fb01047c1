// SPDX-License-Identifier: GPL-2.0
/*
 * Who has sent an IPI to whom, as far as KVM delivers IPIs: a spinner may wait
 * for the answer of a vCPU that cannot give it without a CPU.
 *
 * Each receiver remembers the last few pairs of sender and vector, a word each,
 * which senders and the receiver change by compare-and-exchange only. A pair
 * counts as long as its vector is pending.
 */
#include <linux/bitfield.h>
#include <linux/kvm_host.h>
#include <linux/sched/clock.h>

#include "lapic.h"
#include "yield.h"

/*
 * Time is in units of 2^20 ns, about a millisecond. Where hardware takes
 * interrupts by itself nobody sees it happen: what is older than STALE says
 * nothing any more. What is younger than FRESH may have been noted, but not yet
 * made pending.
 */
#define IPI_VECTOR	GENMASK_ULL(7, 0)
#define IPI_SENDER	GENMASK_ULL(23, 8)
#define IPI_INJECTED	BIT_ULL(24)
#define IPI_TIME	GENMASK_ULL(63, 25)
#define IPI_TIME_SHIFT	20
#define IPI_STALE	1000
#define IPI_FRESH	2

static u64 ipi_now(void)
{
	return local_clock() >> IPI_TIME_SHIFT;
}

static u64 ipi_age(u64 ipi, u64 now)
{
	u64 then = FIELD_GET(IPI_TIME, ipi);

	/* Clocks of two CPUs may differ a little. */
	return now > then ? now - then : 0;
}

static bool ipi_in_irr(struct kvm_vcpu *vcpu, u8 vector)
{
	struct kvm_lapic *apic = vcpu->arch.apic;
	u32 irr = READ_ONCE(*(u32 *)(apic->regs + APIC_IRR + (vector / 32) * 0x10));

	return irr & BIT(vector % 32);
}

/* Has the receiver still to take it? */
static bool ipi_pending(struct kvm_vcpu *vcpu, u64 ipi)
{
	u8 vector = FIELD_GET(IPI_VECTOR, ipi);

	if (ipi & IPI_INJECTED)
		return READ_ONCE(vcpu->arch.interrupt.injected) &&
		       READ_ONCE(vcpu->arch.interrupt.nr) == vector;

	/* Hardware has it posted, and does not say which one it is. */
	return ipi_in_irr(vcpu, vector) ||
	       kvm_arch_dy_has_pending_interrupt(vcpu);
}

/* The word to put a pair into: its own, a free one, or the oldest. */
static u64 *ipi_find_slot(struct kvm_vcpu *vcpu, u64 pair)
{
	u64 *oldest = &vcpu->yield.ipis[0];
	u64 *free = NULL;
	unsigned int i;

	for (i = 0; i < KVM_YIELD_MAX_IPIS; i++) {
		u64 *slot = &vcpu->yield.ipis[i];
		u64 ipi = READ_ONCE(*slot);

		if ((ipi & (IPI_VECTOR | IPI_SENDER)) == pair)
			return slot;
		if (!ipi)
			free = slot;
		else if (FIELD_GET(IPI_TIME, ipi) <
			 FIELD_GET(IPI_TIME, READ_ONCE(*oldest)))
			oldest = slot;
	}

	return free ?: oldest;
}

/* The vCPU that runs here has sent an IPI, which is about to be made pending. */
static void kvm_yield_note_ipi(struct kvm_vcpu *receiver, u8 vector)
{
	struct kvm_vcpu *sender = kvm_get_running_vcpu();
	u64 pair, old, *slot;
	int tries = 2;

	if (!static_branch_unlikely(&kvm_yield_enabled.key) || !sender ||
	    sender == receiver || sender->kvm != receiver->kvm)
		return;

	pair = FIELD_PREP(IPI_VECTOR, vector) |
	       FIELD_PREP(IPI_SENDER, sender->vcpu_idx + 1);
	/* Other senders may be as quick. Who loses twice is not remembered. */
	while (tries--) {
		slot = ipi_find_slot(receiver, pair);
		old = READ_ONCE(*slot);
		if (try_cmpxchg64(slot, &old,
				  pair | FIELD_PREP(IPI_TIME, ipi_now())))
			return;
	}
}

/**
 * kvm_yield_init_vm - prepare a new VM
 * @kvm: the VM, without vCPUs yet
 */
void kvm_yield_init_vm(struct kvm *kvm)
{
	kvm->yield.note_ipi = kvm_yield_note_ipi;
}

void __kvm_yield_note_irq(struct kvm_vcpu *receiver, u8 vector)
{
	struct kvm_vcpu *sender = kvm_get_running_vcpu();

	if (sender && sender->yield.sending)
		kvm_yield_note_ipi(receiver, vector);
}

/*
 * Its vector leaves the IRR: all IPIs of this vector become one interrupt. It may
 * yet be preempted before the guest sees it, and counts until then.
 */
void __kvm_yield_irq_taken(struct kvm_vcpu *receiver, u8 vector)
{
	unsigned int i;

	for (i = 0; i < KVM_YIELD_MAX_IPIS; i++) {
		u64 *slot = &receiver->yield.ipis[i];
		u64 ipi = READ_ONCE(*slot);

		if (!ipi || FIELD_GET(IPI_VECTOR, ipi) != vector)
			continue;
		cmpxchg64(slot, ipi, ipi & IPI_INJECTED ? 0 : ipi | IPI_INJECTED);
	}
}

/**
 * kvm_yield_forget_ipis - forget the IPIs that a vCPU has taken
 * @receiver: the vCPU
 *
 * Context: kvm_sched_out(): what is not pending now has been taken.
 */
void kvm_yield_forget_ipis(struct kvm_vcpu *receiver)
{
	u64 now = ipi_now();
	unsigned int i;

	if (!lapic_in_kernel(receiver))
		return;

	for (i = 0; i < KVM_YIELD_MAX_IPIS; i++) {
		u64 *slot = &receiver->yield.ipis[i];
		u64 ipi = READ_ONCE(*slot);

		if (ipi && ipi_age(ipi, now) >= IPI_FRESH &&
		    !ipi_pending(receiver, ipi))
			cmpxchg64(slot, ipi, 0);
	}
}

/**
 * kvm_yield_ipi_facts - what is known of the IPIs that a vCPU has not taken
 * @receiver: the vCPU
 * @spinner: the vCPU that asks, and may have sent them
 *
 * Context: RCU read side, preemptible.
 * Return: KVM_YIELD_IPI, KVM_YIELD_IPI_FROM_SPINNER.
 */
u32 kvm_yield_ipi_facts(struct kvm_vcpu *receiver, struct kvm_vcpu *spinner)
{
	u64 now = ipi_now();
	u64 enabled = kvm_yield_enabled_since() >> IPI_TIME_SHIFT;
	u32 facts = 0;
	unsigned int i;

	if (!lapic_in_kernel(receiver))
		return 0;

	for (i = 0; i < KVM_YIELD_MAX_IPIS; i++) {
		u64 ipi = READ_ONCE(receiver->yield.ipis[i]);

		if (!ipi || FIELD_GET(IPI_TIME, ipi) < enabled ||
		    ipi_age(ipi, now) > IPI_STALE ||
		    !ipi_pending(receiver, ipi))
			continue;
		facts |= KVM_YIELD_IPI;
		if (FIELD_GET(IPI_SENDER, ipi) == spinner->vcpu_idx + 1)
			facts |= KVM_YIELD_IPI_FROM_SPINNER;
	}

	return facts;
}
