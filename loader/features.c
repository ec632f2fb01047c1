// SPDX-License-Identifier: GPL-2.0
/* kvmyield features: what this kernel offers, and what is missing and why. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "host.h"

enum state { OK, MISSING, UNKNOWN };

struct features {
	json_t	*list;
	bool	loadable;
};

/**
 * feature - report one feature
 * @f: where
 * @name: its name
 * @needed: no policy can be loaded without it
 * @state: is it there?
 * @detail: what was found, or why it is missing
 * @todo: what to do if it is missing; NULL: nothing
 */
static void feature(struct features *f, const char *name, bool needed,
		    enum state state, const char *detail, const char *todo)
{
	static const char *const words[] = { "ok", "missing", "unknown" };
	bool advise = state != OK && todo;

	if (needed && state == MISSING)
		f->loadable = false;

	say("%-18s %-8s %s", name, words[state], detail);
	if (advise)
		say("%-18s %-8s hint: %s", "", "", todo);
	json_array_append_new(f->list, json_pack("{s:s,s:s,s:b,s:o,s:o}",
		"name", name, "state", words[state], "needed", needed,
		"detail", json_text(detail),
		"hint", advise ? json_text(todo) : json_null()));
}

static enum state ok_if(bool there)
{
	return there ? OK : MISSING;
}

/* A number in a file under /proc or /sys; -1 if there is none. */
static long read_number(const char *path)
{
	char text[32], *end;
	ssize_t n;
	long value;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return -1;
	text[n] = '\0';
	value = strtol(text, &end, 10);

	return end == text || value < 0 ? -1 : value;
}

static void kernel_features(struct features *f, const struct host *host)
{
	struct utsname uts;
	long jit;

	uname(&uts);
	feature(f, "kernel", false, OK, uts.release, NULL);
	feature(f, "privilege", true, ok_if(host->privileged),
		host->privileged ? "CAP_SYS_ADMIN" : "no CAP_SYS_ADMIN",
		"run it as root");
	feature(f, "btf", true, ok_if(host->btf),
		host->btf ? "/sys/kernel/btf/vmlinux" :
		"there is no /sys/kernel/btf/vmlinux",
		"boot a kernel with CONFIG_DEBUG_INFO_BTF=y, as Debian's");

	jit = read_number("/proc/sys/net/core/bpf_jit_enable");
	feature(f, "bpf_jit", true, jit < 0 ? UNKNOWN : ok_if(jit > 0),
		jit > 0 ? "policies run as native code" :
		jit < 0 ? "/proc/sys/net/core/bpf_jit_enable cannot be read" :
		"switched off; a policy needs it",
		"sysctl net.core.bpf_jit_enable=1");
	feature(f, "bpffs", true, ok_if(host->bpffs),
		host->bpffs ? PIN_ROOT : "no BPF file system at " PIN_ROOT,
		"mount -t bpf bpf " PIN_ROOT);
}

static void kvm_features(struct features *f, const struct host *host)
{
	feature(f, "kvm", true, ok_if(host->kvm),
		host->kvm ? "loaded" : "there is no module kvm",
		"modprobe kvm");
	feature(f, "hook", true, ok_if(host->hook),
		host->hook ? "KVM has the type kvm_yield_ops" :
		host->kvm ? "this KVM has no type kvm_yield_ops: it is built without the hook, or without BTF" :
		"KVM is not loaded",
		"build KVM with the hook (make modules), and load it while no VM runs");
	feature(f, "vendor", true, ok_if(host->vendor[0]),
		host->vendor[0] ? host->vendor :
		"neither kvm_amd nor kvm_intel is loaded",
		"modprobe kvm_amd, or kvm_intel");
}

/* A policy can be loaded without these exits, but is seldom asked. */
static void pause_feature(struct features *f, const struct host *host)
{
	bool intel = !strcmp(host->vendor, "kvm_intel");
	const char *path = intel ? "/sys/module/kvm_intel/parameters/ple_gap" :
		"/sys/module/kvm_amd/parameters/pause_filter_count";
	const char *name = intel ? "ple_gap" : "pause_filter_count";
	char text[128];
	long value;

	if (!host->vendor[0]) {
		feature(f, "pause_exits", false, UNKNOWN,
			"no vendor module is loaded", NULL);
		return;
	}

	value = read_number(path);
	if (value < 0)
		snprintf(text, sizeof(text), "%s cannot be read", path);
	else
		snprintf(text, sizeof(text), "%s=%ld%s", name, value, value ?
			 "" : ": a spinning vCPU does not leave its guest");
	feature(f, "pause_exits", false, value < 0 ? UNKNOWN : ok_if(value > 0),
		text, "the CPU lacks the exits, or the parameter was set to 0 when the module was loaded");
}

static void hook_features(struct features *f, const struct host *host)
{
	const char *path = "/sys/module/kvm/parameters/yield_refusal_budget";
	struct kvmyield_status s = { };
	json_t *facts, *fact;
	char text[256] = "";
	size_t i, used = 0;
	long budget;

	budget = read_number(path);
	if (budget >= 0)
		snprintf(text, sizeof(text), "%ld refusals in a row%s", budget,
			 budget ? "" : ": policies are never ejected");
	feature(f, "refusal_budget", false, budget < 0 ? MISSING : OK,
		budget < 0 ? "kvm has no parameter yield_refusal_budget" : text,
		NULL);

	if (!host->hook || !host->privileged || hook_status(&s)) {
		feature(f, "facts", false, UNKNOWN, !host->hook ?
			"there is no hook to ask" : !host->privileged ?
			"no permission to ask the hook" : error_text(), NULL);
		error_forget();
		return;
	}

	text[0] = '\0';
	facts = facts_json(s.facts);
	json_array_foreach(facts, i, fact) {
		if (used < sizeof(text))
			used += snprintf(text + used, sizeof(text) - used,
					 "%s%s", i ? " " : "",
					 json_string_value(fact));
	}
	json_decref(facts);
	feature(f, "facts", false, OK, text, NULL);
}

int do_features(int argc, char **argv, json_t *out)
{
	struct features f = { .list = json_array(), .loadable = true };
	struct host host;

	host_read(&host);
	kernel_features(&f, &host);
	kvm_features(&f, &host);
	pause_feature(&f, &host);
	hook_features(&f, &host);

	say("%s", f.loadable ? "A policy can be loaded." :
	    "No policy can be loaded here.");
	json_object_set_new(out, "features", f.list);
	json_object_set_new(out, "loadable", json_boolean(f.loadable));

	return f.loadable ? DONE : UNSUPPORTED;
}
