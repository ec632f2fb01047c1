// SPDX-License-Identifier: GPL-2.0
/*
 * What x86 can tell a yield policy about a vCPU that is not running.
 */
#include <linux/kvm_host.h>
#include <linux/kvm_yield.h>

#include "lapic.h"

static bool kvm_yield_interrupt_pending(struct kvm_vcpu *vcpu)
{
	/* Injection was cut short, and will be taken up at the next entry. */
	if (READ_ONCE(vcpu->arch.interrupt.injected))
		return true;

	return lapic_in_kernel(vcpu) && kvm_lapic_find_highest_irr(vcpu) >= 0;
}

/**
 * kvm_arch_yield_facts - the facts that only x86 code can see
 * @vcpu: a vCPU that is not loaded
 *
 * Reads what the local APIC has in memory. Interrupts that hardware delivers
 * without an exit show there too while the vCPU does not run.
 *
 * Context: RCU read side, preemptible.
 * Return: bit set of &enum kvm_yield_fact.
 */
u32 kvm_arch_yield_facts(struct kvm_vcpu *vcpu)
{
	u32 facts = 0;

	if (kvm_arch_dy_has_pending_interrupt(vcpu))
		facts |= KVM_YIELD_APICV_INTERRUPT | KVM_YIELD_INTERRUPT;
	else if (kvm_yield_interrupt_pending(vcpu))
		facts |= KVM_YIELD_INTERRUPT;

	return facts;
}

/**
 * kvm_arch_yield_fact_mask - the facts that this host's hardware leaves visible
 *
 * Return: bit set of &enum kvm_yield_fact, of those that
 * kvm_arch_yield_facts() supplies.
 */
u32 kvm_arch_yield_fact_mask(void)
{
	u32 mask = KVM_YIELD_INTERRUPT;

	if (enable_apicv)
		mask |= KVM_YIELD_APICV_INTERRUPT;

	return mask;
}
