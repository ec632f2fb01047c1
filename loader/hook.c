// SPDX-License-Identifier: GPL-2.0
/* Ask the hook for its state: by a BPF program, as only those can call it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <bpf/bpf.h>

#include "host.h"
#include "policy.h"
#include "status.skel.h"

/* enum kvm_yield_fact, in the order of its bits */
static const char *const fact_names[] = {
	"preempted", "kernel", "interrupt", "apicv_interrupt", "spinning", "wait",
};

/* enum kvm_yield_exit_reason */
#define EXIT_REFUSALS	1

static int status_failed(int err)
{
	const char *why = libbpf_first_warning();
	struct verdict v;

	if (err == -EPERM) {
		hint("run it as root");
		return fail(REFUSED, "no permission to ask KVM for the state of its hook");
	}
	if (verifier_verdict(&v))
		why = v.reason;

	return fail(REFUSED, "KVM cannot be asked for the state of its hook: %s%s%s",
		    strerror_plain(-err), why[0] ? "; " : "", why);
}

/**
 * hook_status - ask KVM which policy is attached and what it has done
 * @s: receives the answer
 *
 * Return: an exit status
 */
int hook_status(struct kvmyield_status *s)
{
	LIBBPF_OPTS(bpf_test_run_opts, run);
	struct status_bpf *skel;
	int err, status = DONE;

	libbpf_listen();
	skel = status_bpf__open_and_load();
	if (!skel)
		return status_failed(-errno);

	err = bpf_prog_test_run_opts(bpf_program__fd(skel->progs.read_status),
				     &run);
	if (!err)
		err = skel->bss->status.ret < 0 ? skel->bss->status.ret : 0;
	if (err == -ENOSYS)
		status = fail(UNSUPPORTED, "this kernel's KVM does not tell the state of its hook");
	else if (err)
		status = status_failed(err);
	else
		*s = skel->bss->status;
	status_bpf__destroy(skel);

	/* Bounded, whatever the kernel wrote. */
	s->name[sizeof(s->name) - 1] = '\0';
	s->exit_name[sizeof(s->exit_name) - 1] = '\0';
	plain_text(s->name);
	plain_text(s->exit_name);

	return status;
}

enum hook_state hook_state(const struct kvmyield_status *s,
			   const struct pin *pin)
{
	if (s->id)
		return pin->fd >= 0 && pin->link_id == s->link_id ?
			HOOK_OURS : HOOK_FOREIGN;
	if (pin->fd < 0)
		return HOOK_NONE;

	return s->exit_id && s->exit_link_id == pin->link_id ?
		HOOK_EJECTED : HOOK_DETACHED;
}

/* The attached policy is somebody else's: bpftool's, or one whose pin was moved. */
int fail_foreign(const struct kvmyield_status *s, int status)
{
	hint("kvmyield unload --force detaches it");

	return fail(status, "kvmyield did not load the policy '%s': link %u, which another pin or process holds, has attached it",
		    s->name, s->link_id);
}

/* Why KVM ejected a policy: the rest of "it was ejected: it ...". */
const char *exit_reason_text(const struct kvmyield_status *s, char *text,
			     size_t len)
{
	if (s->exit_reason == EXIT_REFUSALS)
		snprintf(text, len, "refused %u spins in a row in which KVM's own code would have yielded",
			 s->exit_refusals);
	else
		snprintf(text, len, "KVM gave reason %u, which this kvmyield does not know",
			 s->exit_reason);

	return text;
}

json_t *facts_json(__u32 facts)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; array && i < 32; i++) {
		if (!(facts & (1U << i)))
			continue;
		if (i < ARRAY_SIZE(fact_names))
			json_array_append_new(array, json_string(fact_names[i]));
		else
			json_array_append_new(array, json_sprintf("bit%zu", i));
	}

	return array;
}
