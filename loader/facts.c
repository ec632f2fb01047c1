// SPDX-License-Identifier: GPL-2.0
/* The facts about a vCPU: what they are called, and which of them a VM has. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "facts.h"

/* enum kvm_yield_fact, by number of the bit */
static const struct {
	const char	*name;
	const char	*means;
} facts[] = {
	[FACT_PREEMPTED] = { "preempted", "lost its CPU while it ran guest code" },
	[FACT_KERNEL] = { "kernel", "was in kernel mode then" },
	[FACT_INTERRUPT] = { "interrupt", "an interrupt is pending" },
	[FACT_APICV_INTERRUPT] = { "apicv_interrupt", "one is pending in hardware's virtual APIC" },
	[FACT_SPINNING] = { "spinning", "is itself in a pause-loop exit" },
	[FACT_WAIT] = { "wait", "how long it has waited for a CPU" },
	[FACT_IRQS_OFF] = { "irqs_off", "had interrupts disabled when it lost its CPU" },
	[FACT_HINT] = { "hint", "the guest's own word about itself (its preempt_count)" },
	[FACT_IPI] = { "ipi", "an IPI is pending" },
	[FACT_IPI_FROM_SPINNER] = { "ipi_from_spinner", "and the spinner sent it" },
	[FACT_KICKED] = { "kicked", "was kicked out of a paravirtual lock's halt" },
	[FACT_WOKEN] = { "woken", "was woken from a halt and has not run since" },
};

#define LOAD_MODULE	"load the module kvm_preempt_count in the guest"

bool fact_known(unsigned int fact)
{
	return fact < ARRAY_SIZE(facts);
}

const char *fact_name(unsigned int fact, char *text, size_t len)
{
	if (fact_known(fact))
		return facts[fact].name;
	snprintf(text, len, "bit%u", fact);

	return text;
}

json_t *facts_json(__u32 mask)
{
	json_t *array = json_array();
	char name[16];
	unsigned int i;

	for (i = 0; array && i < 32; i++) {
		if (mask & (1U << i))
			json_array_append_new(array,
				json_string(fact_name(i, name, sizeof(name))));
	}

	return array;
}

/* A switch of a vendor module, which shows as Y and N, or as 1 and 0. */
static bool parameter(const char *vendor, const char *name)
{
	char path[128], c = 'N';
	int fd;

	snprintf(path, sizeof(path), "/sys/module/%s/parameters/%s", vendor,
		 name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (read(fd, &c, 1) != 1)
		c = 'N';
	close(fd);

	return c == 'Y' || c == '1';
}

void supplier_read(struct supplier *by, const char *vendor, __u32 mask,
		   const struct vms *vms)
{
	size_t i;

	memset(by, 0, sizeof(*by));
	by->mask = mask;
	by->intel = !strcmp(vendor, "kvm_intel");
	by->ipiv = parameter("kvm_intel", "enable_ipiv");
	by->sev = parameter("kvm_amd", "sev");
	by->sev_es = parameter("kvm_amd", "sev_es");
	by->nr_vms = vms->n;
	for (i = 0; i < vms->n; i++) {
		by->nr_hinted += vms->vm[i].nr_hinted > 0;
		by->nr_user_apic += !!(vms->vm[i].flags & VM_USER_APIC);
	}
}

static void answer(struct supply *s, enum supplied state, const char *why)
{
	s->state = state;
	snprintf(s->why, sizeof(s->why), "%s", why);
}

/* The kernel says that no VM here has it. */
static void host_lacks(struct supply *s, const struct supplier *by,
		       unsigned int fact)
{
	answer(s, NOT_SUPPLIED, "this KVM does not tell");
	if (fact == FACT_SPINNING)
		answer(s, NOT_SUPPLIED, "this KVM knows no pause-loop exits");
	if (fact != FACT_APICV_INTERRUPT)
		return;

	answer(s, NOT_SUPPLIED, by->intel ?
	       "APIC virtualisation is off (kvm_intel enable_apicv=N)" :
	       "APIC virtualisation is off (kvm_amd avic=N)");
	s->todo = "not needed: 'interrupt' tells of every pending interrupt then";
}

static void kernel_mode(struct supply *s, const struct supplier *by,
			const struct vm *vm)
{
	if (!by->sev_es)
		return;
	if (!vm)
		answer(s, PARTLY_SUPPLIED, "always claimed of guests with encrypted registers (SEV-ES)");
	else if (vm->flags & VM_ENCRYPTED)
		answer(s, PARTLY_SUPPLIED, "its memory is encrypted: if its registers are too (SEV-ES), always claimed");
}

static void hint_word(struct supply *s, const struct supplier *by,
		      const struct vm *vm)
{
	size_t n = vm ? vm->nr_hinted : by->nr_hinted;
	size_t of = vm ? vm->nr_vcpus : by->nr_vms;

	if (vm && vm->flags & VM_ENCRYPTED) {
		answer(s, NOT_SUPPLIED, "its memory is encrypted or private: the host cannot read the word");
		return;
	}
	if (!of) {
		if (vm)
			answer(s, NOT_SUPPLIED, "it has no vCPU yet");
		return;
	}
	s->state = n == of ? SUPPLIED : n || !vm ? PARTLY_SUPPLIED :
		NOT_SUPPLIED;
	snprintf(s->why, sizeof(s->why), vm ? "%zu of its %zu vCPUs share a hint word" :
		 "hint words are shared by the guests of %zu of %zu VMs", n, of);
	if (n < of)
		s->todo = vm || !by->sev ? LOAD_MODULE :
			LOAD_MODULE "; guests with encrypted memory (SEV) have no hint";
}

static void sent_ipi(struct supply *s, const struct supplier *by,
		     const struct vm *vm)
{
	if (vm ? !(vm->flags & VM_APICV) :
	    !(by->mask & (1U << FACT_APICV_INTERRUPT)))
		return;
	if (!by->intel)
		answer(s, PARTLY_SUPPLIED, "under AVIC: only of IPIs to vCPUs that were not running; hardware delivers the others");
	else if (by->ipiv)
		answer(s, PARTLY_SUPPLIED, "IPI virtualisation (enable_ipiv=Y): not of those that hardware delivers, to one vCPU");
}

/* What depends on the local APIC's being KVM's own. */
static void user_apic(struct supply *s, const struct supplier *by,
		      const struct vm *vm, unsigned int fact)
{
	bool all = fact != FACT_INTERRUPT;
	const char *why = !all ?
		"user space emulates its APICs: only of interrupts caught half-way in injection" :
		"user space emulates its APICs: KVM does not see it";

	if (vm && vm->flags & VM_USER_APIC)
		answer(s, all ? NOT_SUPPLIED : PARTLY_SUPPLIED, why);
	if (vm || !by->nr_user_apic)
		return;
	s->state = PARTLY_SUPPLIED;
	snprintf(s->why, sizeof(s->why), "not of %zu of %zu VMs: user space emulates their APICs",
		 by->nr_user_apic, by->nr_vms);
}

/**
 * fact_supply - does a VM have a fact, and why not?
 * @s: receives the answer
 * @by: the host
 * @vm: the VM; NULL: what can be said of the host
 * @fact: number of the fact's bit
 */
void fact_supply(struct supply *s, const struct supplier *by,
		 const struct vm *vm, unsigned int fact)
{
	memset(s, 0, sizeof(*s));
	answer(s, SUPPLIED, facts[fact].means);
	if (!(by->mask & (1U << fact))) {
		host_lacks(s, by, fact);
		return;
	}

	switch (fact) {
	case FACT_KERNEL:
		kernel_mode(s, by, vm);
		break;
	case FACT_APICV_INTERRUPT:
		if (vm && !(vm->flags & VM_APICV))
			answer(s, NOT_SUPPLIED, "APIC virtualisation is not active in this VM");
		break;
	case FACT_HINT:
		hint_word(s, by, vm);
		break;
	case FACT_IPI:
	case FACT_IPI_FROM_SPINNER:
		sent_ipi(s, by, vm);
		user_apic(s, by, vm, fact);
		break;
	case FACT_INTERRUPT:
	case FACT_KICKED:
	case FACT_WOKEN:
		user_apic(s, by, vm, fact);
		break;
	}
}
