// SPDX-License-Identifier: GPL-2.0
/*
 * What x86 can tell a yield policy about a vCPU that is not running, and what it
 * records when one loses its CPU.
 */
#include <linux/kvm_host.h>

#include "irq.h"
#include "lapic.h"
#include "x86.h"
#include "yield.h"

static bool interrupt_pending(struct kvm_vcpu *vcpu)
{
	/* Injection was cut short, and will be taken up at the next entry. */
	if (READ_ONCE(vcpu->arch.interrupt.injected))
		return true;

	return lapic_in_kernel(vcpu) && kvm_lapic_find_highest_irr(vcpu) >= 0;
}

/**
 * kvm_arch_yield_facts - the facts that only x86 code can see
 * @vcpu: a vCPU that is not loaded
 * @spinner: the vCPU that asks
 *
 * Reads what the local APIC has in memory. Interrupts that hardware delivers
 * without an exit show there too while the vCPU does not run.
 *
 * Context: RCU read side, preemptible.
 * Return: bit set of &enum kvm_yield_fact.
 */
u32 kvm_arch_yield_facts(struct kvm_vcpu *vcpu, struct kvm_vcpu *spinner)
{
	u32 facts = kvm_yield_ipi_facts(vcpu, spinner);

	if (kvm_arch_dy_has_pending_interrupt(vcpu))
		facts |= KVM_YIELD_APICV_INTERRUPT | KVM_YIELD_INTERRUPT;
	else if (interrupt_pending(vcpu))
		facts |= KVM_YIELD_INTERRUPT;
	if (READ_ONCE(vcpu->arch.pv.pv_unhalted))
		facts |= KVM_YIELD_KICKED;

	return facts;
}

static u32 irqs_fact(struct kvm_vcpu *vcpu)
{
	return kvm_x86_call(get_if_flag)(vcpu) ? 0 : KVM_YIELD_IRQS_OFF;
}

/**
 * kvm_arch_yield_spinner_facts - what is true of a vCPU that spins
 * @me: the vCPU, loaded
 *
 * Return: bit set of &enum kvm_yield_fact, without KVM_YIELD_KERNEL.
 */
u32 kvm_arch_yield_spinner_facts(struct kvm_vcpu *me)
{
	return irqs_fact(me);
}

/**
 * kvm_arch_yield_record - what is true of a vCPU as it loses its CPU
 * @vcpu: the vCPU, still loaded
 * @hint: receives the guest's hint word, if there is one
 *
 * VMX keeps a copy of the guest's flags; caught while it is being filled, the
 * copy of an earlier exit is told.
 *
 * Context: kvm_sched_out(): interrupts off, the run queue locked.
 * Return: KVM_YIELD_IRQS_OFF, KVM_YIELD_HINT_VALID.
 */
u32 kvm_arch_yield_record(struct kvm_vcpu *vcpu, u32 *hint)
{
	u32 facts = irqs_fact(vcpu);

	if (kvm_yield_read_hint(vcpu, hint))
		facts |= KVM_YIELD_HINT_VALID;
	kvm_yield_forget_ipis(vcpu);

	return facts;
}

/**
 * kvm_arch_yield_fact_mask - the facts that this host can supply
 *
 * Return: bit set of &enum kvm_yield_fact, of those that x86 supplies.
 */
u32 kvm_arch_yield_fact_mask(void)
{
	u32 mask = KVM_YIELD_INTERRUPT | KVM_YIELD_IRQS_OFF |
		   KVM_YIELD_HINT_VALID | KVM_YIELD_IPI |
		   KVM_YIELD_IPI_FROM_SPINNER | KVM_YIELD_KICKED;

	if (enable_apicv)
		mask |= KVM_YIELD_APICV_INTERRUPT;

	return mask;
}

/**
 * kvm_arch_yield_vm_status - tell why a VM lacks some facts
 * @kvm: the VM
 * @vm: where to; @vm->flags and @vm->nr_hinted are filled
 *
 * Context: kvm_lock held.
 */
void kvm_arch_yield_vm_status(struct kvm *kvm, struct kvm_yield_vm_status *vm)
{
	struct kvm_vcpu *vcpu;
	unsigned long i;

	if (kvm_yield_hint_withheld(kvm))
		vm->flags |= KVM_YIELD_VM_ENCRYPTED;
	if (!irqchip_in_kernel(kvm))
		vm->flags |= KVM_YIELD_VM_USER_APIC;
	if (kvm_apicv_activated(kvm))
		vm->flags |= KVM_YIELD_VM_APICV;

	kvm_for_each_vcpu(i, vcpu, kvm) {
		if (READ_ONCE(vcpu->arch.preempt_count.msr_val) & KVM_MSR_ENABLED)
			vm->nr_hinted++;
	}
}
