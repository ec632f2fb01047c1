/* SPDX-License-Identifier: GPL-2.0 */
/* What KVM's x86 code calls of the yield hook. */
#ifndef __KVM_X86_YIELD_H
#define __KVM_X86_YIELD_H

#include <linux/kvm_host.h>

#ifdef CONFIG_KVM_YIELD_BPF

#define KVM_YIELD_PV_FEATURES	BIT(KVM_FEATURE_PREEMPT_COUNT)

bool kvm_yield_hint_withheld(struct kvm *kvm);
int kvm_yield_set_hint_msr(struct kvm_vcpu *vcpu, u64 data);
int kvm_yield_get_hint_msr(struct kvm_vcpu *vcpu, u64 *data);
bool kvm_yield_read_hint(struct kvm_vcpu *vcpu, u32 *hint);

void kvm_yield_init_vm(struct kvm *kvm);
void __kvm_yield_note_irq(struct kvm_vcpu *receiver, u8 vector);
void __kvm_yield_irq_taken(struct kvm_vcpu *receiver, u8 vector);
u32 kvm_yield_ipi_facts(struct kvm_vcpu *receiver, struct kvm_vcpu *spinner);
void kvm_yield_forget_ipis(struct kvm_vcpu *receiver);
void kvm_yield_vcpu_reset(struct kvm_vcpu *vcpu);

/**
 * kvm_yield_ipi_begin - what is delivered from now on is an IPI of this vCPU
 * @vcpu: the sender, loaded; end with kvm_yield_ipi_end()
 *
 * Context: @vcpu's own thread.
 */
static inline void kvm_yield_ipi_begin(struct kvm_vcpu *vcpu)
{
	if (static_branch_unlikely(&kvm_yield_enabled.key))
		vcpu->yield.sending = true;
}

static inline void kvm_yield_ipi_end(struct kvm_vcpu *vcpu)
{
	if (vcpu->yield.sending)
		vcpu->yield.sending = false;
}

/* An interrupt is about to be made pending; it may be an IPI. */
static inline void kvm_yield_note_irq(struct kvm_vcpu *receiver, u8 vector)
{
	if (static_branch_unlikely(&kvm_yield_enabled.key))
		__kvm_yield_note_irq(receiver, vector);
}

/* An interrupt is no longer pending: it is being injected. */
static inline void kvm_yield_irq_taken(struct kvm_vcpu *receiver, u8 vector)
{
	if (static_branch_unlikely(&kvm_yield_enabled.key))
		__kvm_yield_irq_taken(receiver, vector);
}

/* AVIC could not deliver an IPI of the vCPU that runs here. */
static inline void kvm_yield_note_avic_ipi(struct kvm_vcpu *receiver, u8 vector)
{
	receiver->kvm->yield.note_ipi(receiver, vector);
}

/* The VM's memory becomes unreadable for the host. */
static inline void kvm_yield_withhold_hint(struct kvm *kvm)
{
	WRITE_ONCE(kvm->yield.encrypted, true);
}

#else /* !CONFIG_KVM_YIELD_BPF */

#define KVM_YIELD_PV_FEATURES	0

static inline bool kvm_yield_hint_withheld(struct kvm *kvm)
{
	return true;
}

static inline int kvm_yield_set_hint_msr(struct kvm_vcpu *vcpu, u64 data)
{
	return KVM_MSR_RET_UNSUPPORTED;
}

static inline int kvm_yield_get_hint_msr(struct kvm_vcpu *vcpu, u64 *data)
{
	return KVM_MSR_RET_UNSUPPORTED;
}

static inline void kvm_yield_ipi_begin(struct kvm_vcpu *vcpu) { }
static inline void kvm_yield_ipi_end(struct kvm_vcpu *vcpu) { }
static inline void kvm_yield_note_avic_ipi(struct kvm_vcpu *receiver, u8 vector) { }
static inline void kvm_yield_init_vm(struct kvm *kvm) { }
static inline void kvm_yield_note_irq(struct kvm_vcpu *receiver, u8 vector) { }
static inline void kvm_yield_irq_taken(struct kvm_vcpu *receiver, u8 vector) { }
static inline void kvm_yield_vcpu_reset(struct kvm_vcpu *vcpu) { }
static inline void kvm_yield_withhold_hint(struct kvm *kvm) { }

#endif /* CONFIG_KVM_YIELD_BPF */

#endif /* __KVM_X86_YIELD_H */
