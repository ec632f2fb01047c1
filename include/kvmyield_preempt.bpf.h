/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the guest's hint word means if the guest is Linux: its preempt_count, as
 * x86 has had it in Linux 6.12. This is the only place that knows.
 *
 *	bits  0-7	how often preemption was disabled: spinlocks, preempt_disable()
 *	bits  8-15	softirqs: the lowest of these bits while one is being served,
 *			the others how often bottom halves were disabled
 *	bits 16-19	hardware interrupts being handled
 *	bits 20-23	NMIs being handled
 *	bit  31		0 when the guest's scheduler wants another task; inverted, so
 *			that 0 in all bits says "may and should reschedule"
 *
 * It is the guest's own word about itself. It is right only for Linux guests
 * with CONFIG_PREEMPT_COUNT (Debian's have it, by CONFIG_PREEMPT_DYNAMIC): other
 * kernels of Linux do not count spinlocks, and other systems share something
 * else or nothing. Where it is wrong the guest's own vCPUs run in another order.
 *
 * What is counted is not only the holder of a lock: who waits for a spinlock, or
 * spins for a mutex, has preemption disabled too, and so has the idle task. Who
 * holds a mutex and does not spin is not counted.
 */
#ifndef __KVMYIELD_PREEMPT_BPF_H
#define __KVMYIELD_PREEMPT_BPF_H

#include "kvmyield.bpf.h"

#define KVMYIELD_PREEMPT_DEPTH		0x000000ffu
#define KVMYIELD_SOFTIRQ		0x0000ff00u
#define KVMYIELD_SOFTIRQ_SERVED		0x00000100u
#define KVMYIELD_HARDIRQ		0x000f0000u
#define KVMYIELD_NMI			0x00f00000u
#define KVMYIELD_NO_NEED_RESCHED	0x80000000u

#define KVMYIELD_NOT_PREEMPTIBLE	(KVMYIELD_PREEMPT_DEPTH |	\
					 KVMYIELD_SOFTIRQ |		\
					 KVMYIELD_HARDIRQ |		\
					 KVMYIELD_NMI)

/* Without a hint all of these say 0 or false. */

static inline u32 kvmyield_hint_bits(const struct kvm_yield_candidate *cand, u32 bits)
{
	return cand->facts & KVM_YIELD_HINT_VALID ? cand->hint & bits : 0;
}

static inline u32 kvmyield_preempt_depth(const struct kvm_yield_candidate *cand)
{
	return kvmyield_hint_bits(cand, KVMYIELD_PREEMPT_DEPTH);
}

static inline bool kvmyield_serves_softirq(const struct kvm_yield_candidate *cand)
{
	return kvmyield_hint_bits(cand, KVMYIELD_SOFTIRQ_SERVED);
}

static inline bool kvmyield_bh_disabled(const struct kvm_yield_candidate *cand)
{
	return kvmyield_hint_bits(cand, KVMYIELD_SOFTIRQ & ~KVMYIELD_SOFTIRQ_SERVED);
}

static inline bool kvmyield_in_hardirq(const struct kvm_yield_candidate *cand)
{
	return kvmyield_hint_bits(cand, KVMYIELD_HARDIRQ);
}

static inline bool kvmyield_in_nmi(const struct kvm_yield_candidate *cand)
{
	return kvmyield_hint_bits(cand, KVMYIELD_NMI);
}

static inline bool kvmyield_needs_resched(const struct kvm_yield_candidate *cand)
{
	return cand->facts & KVM_YIELD_HINT_VALID &&
	       !(cand->hint & KVMYIELD_NO_NEED_RESCHED);
}

/*
 * In a critical section by the guest's word. Linux is in none in user mode, and
 * the host sees the mode for itself: there the word is old, or a lie.
 */
static inline bool kvmyield_in_critical_section(const struct kvm_yield_candidate *cand)
{
	return kvmyield_has(cand, KVM_YIELD_HINT_VALID | KVM_YIELD_KERNEL) &&
	       cand->hint & KVMYIELD_NOT_PREEMPTIBLE;
}

#endif /* __KVMYIELD_PREEMPT_BPF_H */
