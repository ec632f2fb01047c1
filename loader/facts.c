// SPDX-License-Identifier: GPL-2.0
/* The facts about a vCPU: what they are called. */
#include <stdio.h>

#include "host.h"

/* enum kvm_yield_fact, by number of the bit */
static const char *const facts[] = {
	"preempted", "kernel", "interrupt", "apicv_interrupt", "spinning", "wait",
	"irqs_off", "hint", "ipi", "ipi_from_spinner", "kicked", "woken",
};

bool fact_known(unsigned int fact)
{
	return fact < ARRAY_SIZE(facts);
}

const char *fact_name(unsigned int fact, char *text, size_t len)
{
	if (fact_known(fact))
		return facts[fact];
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
