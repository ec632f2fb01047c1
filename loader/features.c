// SPDX-License-Identifier: GPL-2.0
/* kvmyield features: what this kernel offers, and what is missing and why. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "facts.h"

enum state { OK, MISSING, UNKNOWN };

struct features {
	json_t	*list;
	json_t	*facts;
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

/* One line for each fact: of a VM, or of the host. */
static json_t *say_facts(const struct supplier *by, const struct vm *vm)
{
	static const char *const words[] = { "ok", "partly", "missing" };
	json_t *list = json_array();
	struct supply s;
	char name[16];
	unsigned int i;

	for (i = 0; fact_known(i); i++) {
		fact_supply(&s, by, vm, i);

		say("  %-16s %-8s %s", fact_name(i, name, sizeof(name)),
		    words[s.state], s.why);
		if (s.todo)
			say("  %-16s %-8s hint: %s", "", "", s.todo);
		json_array_append_new(list, json_pack("{s:s,s:s,s:s,s:s?}",
			"name", fact_name(i, name, sizeof(name)),
			"state", words[s.state], "detail", s.why,
			"hint", s.todo));
	}

	return list;
}

static void budget_feature(struct features *f)
{
	long budget = read_number("/sys/module/kvm/parameters/yield_refusal_budget");
	char text[128] = "";

	if (budget >= 0)
		snprintf(text, sizeof(text), "%ld refusals in a row%s", budget,
			 budget ? "" : ": policies are never ejected");
	feature(f, "refusal_budget", false, budget < 0 ? MISSING : OK,
		budget < 0 ? "kvm has no parameter yield_refusal_budget" : text,
		NULL);
}

static void fact_features(struct features *f, const struct host *host)
{
	struct kvmyield_status s = { };
	struct supplier by;
	struct vms vms = { };
	json_t *names, *name;
	char text[256] = "";
	size_t i, used = 0;

	if (!host->hook || !host->privileged || hook_vms(&s, &vms)) {
		feature(f, "facts", false, UNKNOWN, !host->hook ?
			"there is no hook to ask" : !host->privileged ?
			"no permission to ask the hook" : error_text(), NULL);
		error_forget();
		return;
	}

	names = facts_json(s.facts);
	json_array_foreach(names, i, name) {
		if (used < sizeof(text))
			used += snprintf(text + used, sizeof(text) - used,
					 "%s%s", i ? " " : "",
					 json_string_value(name));
	}
	json_decref(names);
	feature(f, "facts", false, OK, text, NULL);
	supplier_read(&by, host->vendor, s.facts, &vms);
	f->facts = say_facts(&by, NULL);
	vms_free(&vms);
}

static int vm_features(json_t *out)
{
	json_t *list, *object;
	struct kvmyield_status s = { };
	struct supplier by;
	struct vms vms = { };
	struct host host;
	int status;
	size_t i;

	status = host_require(NEED_HOOK) ?: hook_vms(&s, &vms) ?:
		 vms_only(&vms, opt.vm);
	if (status)
		goto out;

	host_read(&host);
	supplier_read(&by, host.vendor, s.facts, &vms);
	list = json_array();
	for (i = 0; i < vms.n; i++) {
		say("%-18s %d (%s), %u vCPUs", "vm", vms.vm[i].pid,
		    vms.vm[i].comm, vms.vm[i].nr_vcpus);
		object = vm_json(&vms.vm[i]);
		json_object_set_new(object, "facts",
				    say_facts(&by, &vms.vm[i]));
		json_array_append_new(list, object);
	}
	json_object_set_new(out, "vms", list);
out:
	vms_free(&vms);

	return status;
}

int do_features(int argc, char **argv, json_t *out)
{
	struct features f = { .loadable = true };
	struct host host;

	if (opt.vm)
		return vm_features(out);

	f.list = json_array();
	host_read(&host);
	kernel_features(&f, &host);
	kvm_features(&f, &host);
	pause_feature(&f, &host);
	budget_feature(&f);
	fact_features(&f, &host);

	say("%s", f.loadable ? "A policy can be loaded." :
	    "No policy can be loaded here.");
	json_object_set_new(out, "features", f.list);
	json_object_set_new(out, "facts", f.facts ? f.facts : json_null());
	json_object_set_new(out, "loadable", json_boolean(f.loadable));

	return f.loadable ? DONE : UNSUPPORTED;
}
