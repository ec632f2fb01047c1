/* SPDX-License-Identifier: GPL-2.0 */
/* A local APIC that is made of its registers. */
#ifndef __SHIM_X86_LAPIC_H
#define __SHIM_X86_LAPIC_H

#include <linux/kvm_host.h>

#define APIC_IRR	0x200

static inline bool lapic_in_kernel(struct kvm_vcpu *vcpu)
{
	return vcpu->arch.apic;
}

#endif
