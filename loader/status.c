// SPDX-License-Identifier: GPL-2.0
/* kvmyield status */
#include <stdio.h>
#include <time.h>

#include "host.h"

#define NS_PER_S	1000000000ULL

static const char *duration(__u64 ns, char *text, size_t len)
{
	__u64 s = ns / NS_PER_S;

	if (s < 60)
		snprintf(text, len, "%llu.%llu s", s,
			 ns % NS_PER_S / (NS_PER_S / 10));
	else if (s < 3600)
		snprintf(text, len, "%llu min %llu s", s / 60, s % 60);
	else if (s < 86400)
		snprintf(text, len, "%llu h %llu min", s / 3600,
			 s / 60 % 60);
	else
		snprintf(text, len, "%llu d %llu h", s / 86400,
			 s / 3600 % 24);

	return text;
}

static const char *since(__u64 age_ns, char *text, size_t len)
{
	time_t then = time(NULL) - (time_t)(age_ns / NS_PER_S);
	struct tm tm;

	if (!localtime_r(&then, &tm) || !strftime(text, len, "%F %T", &tm))
		snprintf(text, len, "?");

	return text;
}

static void say_attached(const struct kvmyield_status *s, bool ours)
{
	char at[32], age[32];

	say_field("policy", "%s", s->name);
	say_field("scope", "host");
	say_field("id", "%llu", s->id);
	say_field("link", "%u", s->link_id);
	say_field("pin", "%s", ours ? PIN_PATH :
		  "another program's (kvmyield did not load it)");
	say_field("attached", "since %s, for %s",
		  since(s->age_ns, at, sizeof(at)),
		  duration(s->age_ns, age, sizeof(age)));
}

static void say_none(const struct kvmyield_status *s, enum hook_state state)
{
	char text[128];

	say_field("policy", "none");
	if (state == HOOK_EJECTED) {
		say_field("ejected", "%s (id %llu, link %u)", s->exit_name,
			  s->exit_id, s->exit_link_id);
		say_field("why", "it %s",
			  exit_reason_text(s, text, sizeof(text)));
		say_field("hint", "KVM's own code decides again; kvmyield load tries another policy");
	} else if (state == HOOK_DETACHED) {
		say_field("pin", PIN_PATH " (its link was detached by someone else)");
		say_field("hint", "kvmyield load replaces it");
	}
}

static json_t *attached_json(const struct kvmyield_status *s, bool ours)
{
	return json_pack("{s:o,s:s,s:I,s:I,s:o,s:b,s:I}",
		"policy", json_text(s->name),
		"scope", "host",
		"id", (json_int_t)s->id,
		"link_id", (json_int_t)s->link_id,
		"pin", ours ? json_string(PIN_PATH) : json_null(),
		"ours", ours,
		"age_ns", (json_int_t)s->age_ns);
}

static json_t *ejected_json(const struct kvmyield_status *s, bool ours)
{
	char text[128];

	if (!s->exit_id)
		return json_null();

	return json_pack("{s:o,s:I,s:I,s:b,s:I,s:I,s:o}",
		"policy", json_text(s->exit_name),
		"id", (json_int_t)s->exit_id,
		"link_id", (json_int_t)s->exit_link_id,
		"ours", ours,
		"reason", (json_int_t)s->exit_reason,
		"refusals", (json_int_t)s->exit_refusals,
		"why", json_text(exit_reason_text(s, text, sizeof(text))));
}

static json_t *vms_json(const struct vms *vms,
			const struct kvmyield_status *s)
{
	json_t *array, *object;
	size_t i;

	if (!vms->known)
		return json_null();

	array = json_array();
	for (i = 0; i < vms->n; i++) {
		object = vm_json(&vms->vm[i]);
		json_object_set_new(object, "counters", s->id ?
			counters_json(&vms->vm[i].counters, s->counts_facts) :
			json_null());
		json_array_append_new(array, object);
	}

	return array;
}

static void report_json(json_t *out, const struct kvmyield_status *s,
			const struct vms *vms, enum hook_state state)
{
	bool ours = state == HOOK_OURS;

	json_object_set_new(out, "attached",
			    s->id ? attached_json(s, ours) : json_null());
	json_object_set_new(out, "counters", s->id ?
			    counters_json(&s->counters, s->counts_facts) :
			    json_null());
	json_object_set_new(out, "ejected",
			    ejected_json(s, state == HOOK_EJECTED));
	json_object_set_new(out, "stale_pin",
			    json_boolean(state == HOOK_DETACHED ||
					 state == HOOK_EJECTED));
	json_object_set_new(out, "refusal_budget", json_integer(s->budget));
	json_object_set_new(out, "max_streak", json_integer(s->max_streak));
	json_object_set_new(out, "facts", facts_json(s->facts));
	/* Last, so that the first counters are those of all VMs. */
	json_object_set_new(out, "vms", vms_json(vms, s));
	json_object_set_new(out, "vms_complete", json_boolean(vms->complete));
}

/* One VM in the long form. */
static void say_vm(const struct vm *vm, const struct kvmyield_status *s)
{
	say_field("vm", "%d (%s)", vm->pid, vm->comm);
	say_field("vcpus", "%u, of which %u share a hint word", vm->nr_vcpus,
		  vm->nr_hinted);
	if (!s->id)
		return;
	say_counters(&vm->counters);
	if (s->counts_facts)
		say_fact_counts(&vm->counters, s->facts);
}

static void report(const struct kvmyield_status *s, const struct vms *vms,
		   enum hook_state state)
{
	size_t i;

	if (s->id)
		say_attached(s, state == HOOK_OURS);
	else
		say_none(s, state);

	for (i = 0; opt.vm && i < vms->n; i++) {
		say("%s", "");
		say_vm(&vms->vm[i], s);
	}
	if (opt.vm || !s->id)
		return;

	say_counters(&s->counters);
	if (s->counts_facts)
		say_fact_counts(&s->counters, s->facts);
	say_vms(vms);
}

int do_status(int argc, char **argv, json_t *out)
{
	struct kvmyield_status s = { };
	struct vms vms = { };
	enum hook_state state;
	struct pin pin;
	int status;

	status = host_require(NEED_HOOK);
	if (status)
		return status;
	status = pin_peek(&pin);
	if (!status)
		status = hook_vms(&s, &vms);
	if (!status && opt.vm)
		status = vms_only(&vms, opt.vm);
	if (status)
		goto out;

	state = hook_state(&s, &pin);
	report_json(out, &s, &vms, state);
	report(&s, &vms, state);
	status = s.id ? DONE : state == HOOK_EJECTED ? EJECTED : NOT_LOADED;
out:
	vms_free(&vms);
	pin_close(&pin);

	return status;
}
