/* SPDX-License-Identifier: GPL-2.0 */
/* Which facts about its vCPUs a VM has, and why it lacks the others. */
#ifndef FACTS_H
#define FACTS_H

#include "host.h"

/* enum kvm_yield_fact, by number of the bit */
enum fact {
	FACT_PREEMPTED,
	FACT_KERNEL,
	FACT_INTERRUPT,
	FACT_APICV_INTERRUPT,
	FACT_SPINNING,
	FACT_WAIT,
	FACT_IRQS_OFF,
	FACT_HINT,
	FACT_IPI,
	FACT_IPI_FROM_SPINNER,
	FACT_KICKED,
	FACT_WOKEN,
};

/**
 * struct supplier - what decides which facts there are
 * @mask: bit set of the facts that the kernel says it can supply
 * @intel: the vendor module is kvm_intel
 * @ipiv: hardware delivers IPIs to one vCPU by itself (Intel)
 * @sev: guests may have encrypted memory
 * @sev_es: and encrypted registers
 * @nr_vms: how many VMs there are
 * @nr_hinted: how many of them share hint words
 * @nr_user_apic: how many of them have APICs that user space emulates
 */
struct supplier {
	__u32	mask;
	bool	intel;
	bool	ipiv;
	bool	sev;
	bool	sev_es;
	size_t	nr_vms;
	size_t	nr_hinted;
	size_t	nr_user_apic;
};

enum supplied {
	SUPPLIED,
	PARTLY_SUPPLIED,
	NOT_SUPPLIED,
};

/**
 * struct supply - is a fact supplied?
 * @state: that
 * @why: what it says, or why it is not supplied, or of what part
 * @todo: what to do if it is not; NULL: nothing
 */
struct supply {
	enum supplied	state;
	char		why[160];
	const char	*todo;
};

void supplier_read(struct supplier *by, const char *vendor, __u32 mask,
		   const struct vms *vms);
void fact_supply(struct supply *s, const struct supplier *by,
		 const struct vm *vm, unsigned int fact);

#endif /* FACTS_H */
