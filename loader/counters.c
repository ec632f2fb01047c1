// SPDX-License-Identifier: GPL-2.0
/* What a policy has done, to all VMs or to one: in lines, in tables and in JSON. */
#include <stdio.h>

#include "host.h"

/* VMs that are shown without -v. */
#define VMS_SHOWN	20

static void say_share(const char *key, __u64 part, __u64 whole,
		      const char *of)
{
	if (whole)
		say_field(key, "%llu (%.1f %% of %s)", part,
			  100.0 * part / whole, of);
	else
		say_field(key, "%llu", part);
}

void say_counters(const struct kvmyield_counters *c)
{
	say_field("spins", "%llu", c->spins);
	say_field("candidates", "%llu", c->candidates);
	say_field("tries", "%llu", c->tries);
	say_share("yields", c->yields, c->spins, "spins");
	say_share("refused", c->refused, c->spins, "spins");
	say_share("overruled", c->overruled, c->refused, "refused");
	say_share("bounded", c->bounded, c->spins, "spins");
}

static const char *percent(__u64 part, __u64 whole, char *text, size_t len)
{
	if (whole)
		snprintf(text, len, "%.1f %%", 100.0 * part / whole);
	else
		snprintf(text, len, "-");

	return text;
}

/**
 * say_fact_counts - how often each fact was true of those it could have been
 * @c: the counters
 * @facts: the facts that the host supplies; others are shown if they were seen
 */
void say_fact_counts(const struct kvmyield_counters *c, __u32 facts)
{
	char name[16], seen[16], chosen[16];
	unsigned int i;

	say("\n%-16s %14s %13s %14s %9s", "fact", "seen", "of candidates",
	    "chosen", "of yields");
	for (i = 0; i < KVMYIELD_MAX_FACTS; i++) {
		if (!(facts & (1U << i)) && !c->seen[i] && !c->chosen[i])
			continue;
		say("%-16s %14llu %13s %14llu %9s",
		    fact_name(i, name, sizeof(name)), c->seen[i],
		    percent(c->seen[i], c->candidates, seen, sizeof(seen)),
		    c->chosen[i],
		    percent(c->chosen[i], c->yields, chosen, sizeof(chosen)));
	}
}

void say_vms(const struct vms *vms)
{
	const struct kvmyield_counters *c;
	size_t i;

	if (!vms->n)
		return;

	say("\n%8s %-15s %6s %6s %11s %11s %11s %11s %9s", "vm pid", "process",
	    "vcpus", "hinted", "spins", "tries", "yields", "refused",
	    "bounded");
	for (i = 0; i < vms->n && (opt.verbose || i < VMS_SHOWN); i++) {
		c = &vms->vm[i].counters;
		say("%8d %-15s %6u %6u %11llu %11llu %11llu %11llu %9llu",
		    vms->vm[i].pid,
		    vms->vm[i].comm[0] ? vms->vm[i].comm : "(ended)",
		    vms->vm[i].nr_vcpus, vms->vm[i].nr_hinted, c->spins,
		    c->tries, c->yields, c->refused, c->bounded);
	}
	if (i < vms->n)
		say("and %zu more VMs with fewer spins (-v shows them)",
		    vms->n - i);
	if (!vms->complete)
		say("and more VMs, which came while these were being looked at");
}

static json_t *facts_counted(const __u64 *counts)
{
	json_t *object = json_object();
	char name[16];
	unsigned int i;

	for (i = 0; i < KVMYIELD_MAX_FACTS; i++) {
		if (fact_known(i) || counts[i])
			json_object_set_new(object,
					    fact_name(i, name, sizeof(name)),
					    json_integer(counts[i]));
	}

	return object;
}

/* @facts: the kernel counts facts; seen and chosen are null if it does not. */
json_t *counters_json(const struct kvmyield_counters *c, bool facts)
{
	return json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:o,s:o}",
		"spins", (json_int_t)c->spins,
		"candidates", (json_int_t)c->candidates,
		"tries", (json_int_t)c->tries,
		"yields", (json_int_t)c->yields,
		"refused", (json_int_t)c->refused,
		"overruled", (json_int_t)c->overruled,
		"bounded", (json_int_t)c->bounded,
		"seen", facts ? facts_counted(c->seen) : json_null(),
		"chosen", facts ? facts_counted(c->chosen) : json_null());
}
