/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The policies of bpf/ as native functions, without the hook, and words for the
 * states that they are asked about.
 */
#ifndef __RANKING_H
#define __RANKING_H

#include "fake_kvm.h"

#define MAX_CANDS	10

extern struct kvm_yield_ops policy_builtin, policy_critical_section,
			    policy_ipi_boost, policy_ipi_pair,
			    policy_kernel_only, policy_never, policy_random,
			    policy_two_pass, policy_yield_policy;

/* The parameters of yield_policy. */
extern volatile u8 ipi_from_spinner, critical, kicked, kernel, ipi, interrupt;
extern volatile bool longest_first;

/* fake_setup(), and the parameters are what they were when the program began. */
int ranking_setup(void **state);

/* Candidates */
#define WAITING		KVM_YIELD_WAIT_VALID
#define USER		(KVM_YIELD_PREEMPTED | WAITING)
#define KERNEL		(USER | KVM_YIELD_KERNEL)
#define WOKEN		(KVM_YIELD_WOKEN | WAITING)
#define SPINNING	KVM_YIELD_SPINNING
#define OFF		KVM_YIELD_IRQS_OFF
#define KICKED		KVM_YIELD_KICKED
/* An interrupt, one that hardware holds, an IPI, and one of this spinner. */
#define INT		KVM_YIELD_INTERRUPT
#define APICV		(INT | KVM_YIELD_APICV_INTERRUPT)
#define IPI		(INT | KVM_YIELD_IPI)
#define MINE		(IPI | KVM_YIELD_IPI_FROM_SPINNER)

/* What the hint word says. */
#define FREE		0x80000000u
#define LOCK		0x80000001u
#define SOFTIRQ		0x80000100u
#define BH_OFF		0x80000200u
#define HARDIRQ		0x80010000u
#define NMI		0x80100000u
/* Nothing, but that another task should run; and bits without a meaning. */
#define RESCHED		0x00000000u
#define UNKNOWN		0xff000000u

enum spinner {
	IN_KERNEL,	/* wants kernel mode */
	IRQS_OFF,	/* the same with interrupts off */
	IN_USER,	/* in user mode, on SVM */
};

struct row {
	const char			*what;
	enum spinner			spinner;
	struct kvm_yield_candidate	cand[MAX_CANDS];
	unsigned int			nr;
	/* The candidates that are accepted, the best one first. */
	const char			*order;
};

#define CANDS(...)							\
	.cand = { __VA_ARGS__ },					\
	.nr = ARRAY_LEN(((struct kvm_yield_candidate[]){ __VA_ARGS__ }))
#define C(f, ms)	{ .facts = (f), .wait_ns = (ms) * 1000000ull }
#define H(f, ms, word)	{ .facts = (f) | KVM_YIELD_HINT_VALID, .hint = (word),\
			  .wait_ns = (ms) * 1000000ull }
#define ELIGIBLE(f, ms)	{ .facts = (f), .wait_ns = (ms) * 1000000ull, .dy_eligible = true }

struct kvm_yield_spin spinner_of(enum spinner spinner);
s32 rank(const struct kvm_yield_ops *ops, enum spinner spinner,
	 struct kvm_yield_candidate *cand);

/* Best first, equals as they come: what the hook makes of the scores. */
void sort_scores(const s32 *score, unsigned int nr, char *order, size_t size);

void check_rows_of(const struct kvm_yield_ops *ops, const struct row *rows,
		   unsigned int nr);
#define check_rows(ops, rows) check_rows_of(ops, rows, ARRAY_LEN(rows))

#endif
