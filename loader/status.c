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

static void say_share(const char *key, __u64 part, __u64 whole,
		      const char *of)
{
	if (whole)
		say_field(key, "%llu (%.1f %% of %s)", part,
			  100.0 * part / whole, of);
	else
		say_field(key, "%llu", part);
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
	say_field("spins", "%llu", s->spins);
	say_field("candidates", "%llu", s->candidates);
	say_field("tries", "%llu", s->tries);
	say_share("yields", s->yields, s->spins, "spins");
	say_share("refused", s->refused, s->spins, "spins");
	say_share("overruled", s->overruled, s->refused, "refused");
	say_share("bounded", s->bounded, s->spins, "spins");
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

static json_t *counters_json(const struct kvmyield_status *s)
{
	return json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:I}",
		"spins", (json_int_t)s->spins,
		"candidates", (json_int_t)s->candidates,
		"tries", (json_int_t)s->tries,
		"yields", (json_int_t)s->yields,
		"refused", (json_int_t)s->refused,
		"overruled", (json_int_t)s->overruled,
		"bounded", (json_int_t)s->bounded);
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

static void report_json(json_t *out, const struct kvmyield_status *s,
			enum hook_state state)
{
	bool ours = state == HOOK_OURS;

	json_object_set_new(out, "attached",
			    s->id ? attached_json(s, ours) : json_null());
	json_object_set_new(out, "counters",
			    s->id ? counters_json(s) : json_null());
	json_object_set_new(out, "ejected",
			    ejected_json(s, state == HOOK_EJECTED));
	json_object_set_new(out, "stale_pin",
			    json_boolean(state == HOOK_DETACHED ||
					 state == HOOK_EJECTED));
	json_object_set_new(out, "refusal_budget", json_integer(s->budget));
	json_object_set_new(out, "max_streak", json_integer(s->max_streak));
	json_object_set_new(out, "facts", facts_json(s->facts));
}

int do_status(int argc, char **argv, json_t *out)
{
	struct kvmyield_status s = { };
	enum hook_state state;
	struct pin pin;
	int status;

	status = host_require(NEED_HOOK);
	if (status)
		return status;
	status = pin_peek(&pin);
	if (!status)
		status = hook_status(&s);
	if (status)
		goto out;

	state = hook_state(&s, &pin);
	report_json(out, &s, state);
	if (s.id)
		say_attached(&s, state == HOOK_OURS);
	else
		say_none(&s, state);
	status = s.id ? DONE : state == HOOK_EJECTED ? EJECTED : NOT_LOADED;
out:
	pin_close(&pin);

	return status;
}
