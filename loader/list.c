// SPDX-License-Identifier: GPL-2.0
/* kvmyield list */
#include <stdio.h>
#include <string.h>

#include "host.h"
#include "policy.h"

/* The name of the attached policy; false if that cannot be found out here. */
static bool read_attached(struct kvmyield_status *s)
{
	struct host host;

	memset(s, 0, sizeof(*s));
	host_read(&host);
	if (!host.hook || !host.privileged)
		return false;
	if (!hook_status(s))
		return true;
	error_forget();

	return false;
}

static void say_params(const json_t *params)
{
	json_t *param, *value;
	size_t i;
	char *text;

	json_array_foreach(params, i, param) {
		value = json_object_get(param, "value");
		text = json_dumps(value, JSON_ENCODE_ANY);
		say("    %s=%s (%s)",
		    json_string_value(json_object_get(param, "name")),
		    text ? text : "?",
		    json_string_value(json_object_get(param, "type")));
		free(text);
	}
}

/* One policy, as JSON; a broken file is listed with what is wrong with it. */
static json_t *describe(const struct policy_file *file,
			const struct kvmyield_status *s, bool known)
{
	struct policy p = { .file = *file };
	json_t *entry, *attached = NULL;

	if (policy_open_file(&p)) {
		entry = json_pack("{s:o,s:o,s:o}", "name", json_text(file->name),
				  "path", json_text(file->path),
				  "error", json_text(error_text()));
		error_forget();
		goto out;
	}

	if (known)
		attached = json_boolean(s->id && !strcmp(s->name, p.name));
	entry = json_pack("{s:o,s:o,s:o,s:o,s:o,s:o}",
		"name", json_text(file->name),
		"policy", json_text(p.name),
		"path", json_text(file->path),
		"description", json_text(p.desc),
		"attached", attached ? attached : json_null(),
		"parameters", params_json(&p));
out:
	policy_close(&p);

	return entry;
}

static const char *text_of(const json_t *entry, const char *key)
{
	const char *text = json_string_value(json_object_get(entry, key));

	return text ? text : "";
}

static void say_entry(const json_t *entry, int width)
{
	const char *error = text_of(entry, "error");
	bool attached = json_is_true(json_object_get(entry, "attached"));

	say("%c %-*s  %s%s", attached ? '*' : ' ', width, text_of(entry, "name"),
	    error[0] ? "not usable: " : "",
	    error[0] ? error : text_of(entry, "description"));
	if (!opt.verbose)
		return;
	say("    %s", text_of(entry, "path"));
	say_params(json_object_get(entry, "parameters"));
}

static void say_entries(const json_t *entries)
{
	int width = 0, len;
	json_t *entry;
	size_t i;

	json_array_foreach(entries, i, entry) {
		len = strlen(text_of(entry, "name"));
		if (len > width)
			width = len;
	}
	json_array_foreach(entries, i, entry)
		say_entry(entry, width);
	if (!i)
		say("no policies; set KVMYIELD_POLICY_PATH to a directory of .bpf.o files");
}

static int list_one(const char *word, json_t *out)
{
	struct kvmyield_status s;
	struct policy p;
	json_t *entry;
	bool known;
	int status;

	/* Asked for by name, a broken file is an error. */
	status = policy_open(&p, word);
	if (status)
		goto out;
	known = read_attached(&s);
	entry = describe(&p.file, &s, known);
	opt.verbose = true;
	say_entry(entry, 0);
	json_object_set_new(out, "policies", json_pack("[o]", entry));
out:
	policy_close(&p);

	return status;
}

int do_list(int argc, char **argv, json_t *out)
{
	struct policy_files files;
	struct kvmyield_status s;
	json_t *entries;
	bool known;
	int status;
	size_t i;

	if (argc)
		return list_one(argv[0], out);

	status = policy_files_read(&files);
	if (status)
		return status;
	known = read_attached(&s);
	entries = json_array();
	for (i = 0; i < files.n; i++)
		json_array_append_new(entries,
				      describe(&files.file[i], &s, known));
	policy_files_free(&files);

	say_entries(entries);
	json_object_set_new(out, "policies", entries);

	return DONE;
}
