// SPDX-License-Identifier: GPL-2.0
/*
 * The guest's hint word: MSR_KVM_PREEMPT_COUNT says where it is, and it is read
 * when a vCPU loses its CPU. KVM hands it on to yield policies as it is; no bit
 * of it means anything here.
 */
#include <linux/kvm_host.h>
#include <linux/uaccess.h>

#include "cpuid.h"
#include "smm.h"
#include "x86.h"
#include "yield.h"

/* The word is aligned, so it never crosses a page. */
#define HINT_ALIGN_MASK		((u64)sizeof(u32) - 1)
#define HINT_RESERVED		(HINT_ALIGN_MASK & ~(u64)KVM_MSR_ENABLED)

/**
 * kvm_yield_hint_withheld - must a VM do without the hint word?
 * @kvm: the VM
 *
 * Context: any.
 * Return: true if the host cannot read the VM's memory.
 */
bool kvm_yield_hint_withheld(struct kvm *kvm)
{
	return READ_ONCE(kvm->yield.encrypted) || kvm_arch_has_private_mem(kvm);
}

static bool hint_allowed(struct kvm_vcpu *vcpu)
{
	return guest_pv_has(vcpu, KVM_FEATURE_PREEMPT_COUNT) &&
	       !kvm_yield_hint_withheld(vcpu->kvm);
}

static gpa_t hint_gpa(u64 msr)
{
	return msr & ~HINT_ALIGN_MASK;
}

/**
 * kvm_yield_set_hint_msr - write MSR_KVM_PREEMPT_COUNT
 * @vcpu: the vCPU
 * @data: guest-physical address of the word | KVM_MSR_ENABLED, or 0
 *
 * An address at which there is no memory is no error: there may be later. Until
 * then there is no hint.
 *
 * Context: kvm->srcu held for reading, @vcpu's mutex held.
 * Return: 0; 1 for #GP, KVM_MSR_RET_UNSUPPORTED without the feature.
 */
int kvm_yield_set_hint_msr(struct kvm_vcpu *vcpu, u64 data)
{
	u64 *msr = &vcpu->arch.preempt_count.msr_val;

	if (!hint_allowed(vcpu))
		return KVM_MSR_RET_UNSUPPORTED;
	if (data & HINT_RESERVED || !kvm_vcpu_is_legal_gpa(vcpu, hint_gpa(data)))
		return 1;

	/* Preempted in between, it has no hint rather than half an address. */
	WRITE_ONCE(*msr, 0);
	barrier();
	if (data & KVM_MSR_ENABLED)
		kvm_gfn_to_hva_cache_init(vcpu->kvm,
					  &vcpu->arch.preempt_count.cache,
					  hint_gpa(data), sizeof(u32));
	barrier();
	WRITE_ONCE(*msr, data);

	return 0;
}

/**
 * kvm_yield_get_hint_msr - read MSR_KVM_PREEMPT_COUNT
 * @vcpu: the vCPU
 * @data: receives what was written last
 *
 * Return: 0, or KVM_MSR_RET_UNSUPPORTED without the feature.
 */
int kvm_yield_get_hint_msr(struct kvm_vcpu *vcpu, u64 *data)
{
	if (!hint_allowed(vcpu))
		return KVM_MSR_RET_UNSUPPORTED;

	*data = vcpu->arch.preempt_count.msr_val;
	return 0;
}

/**
 * kvm_yield_read_hint - read the guest's hint word
 * @vcpu: the vCPU, loaded
 * @hint: receives the word
 *
 * Neither faults memory in nor waits: a word that is not there is no hint. While
 * a guest of the guest runs, or system management mode, the word is about
 * something else.
 *
 * Context: kvm_sched_out(): interrupts off, the run queue locked.
 * Return: true if there is a hint.
 */
bool kvm_yield_read_hint(struct kvm_vcpu *vcpu, u32 *hint)
{
	struct gfn_to_hva_cache *cache = &vcpu->arch.preempt_count.cache;
	u64 msr = READ_ONCE(vcpu->arch.preempt_count.msr_val);
	bool found = false;
	int idx;

	if (!(msr & KVM_MSR_ENABLED) || is_guest_mode(vcpu) || is_smm(vcpu) ||
	    kvm_yield_hint_withheld(vcpu->kvm))
		return false;
	/* This happens on process exit. */
	if (unlikely(current->mm != vcpu->kvm->mm))
		return false;

	idx = srcu_read_lock(&vcpu->kvm->srcu);
	/* Memslots have changed; finding the new one takes no lock. */
	if (unlikely(kvm_memslots(vcpu->kvm)->generation != cache->generation))
		kvm_gfn_to_hva_cache_init(vcpu->kvm, cache, hint_gpa(msr),
					  sizeof(u32));
	if (!kvm_is_error_hva(cache->hva) && cache->memslot) {
		pagefault_disable();
		found = !__get_user(*hint, (u32 __user *)cache->hva);
		pagefault_enable();
	}
	srcu_read_unlock(&vcpu->kvm->srcu, idx);

	return found;
}

/**
 * kvm_yield_vcpu_reset - forget what INIT and RESET make untrue
 * @vcpu: the vCPU
 *
 * Context: @vcpu's mutex held.
 */
void kvm_yield_vcpu_reset(struct kvm_vcpu *vcpu)
{
	WRITE_ONCE(vcpu->arch.preempt_count.msr_val, 0);
	memset(vcpu->yield.ipis, 0, sizeof(vcpu->yield.ipis));
}
