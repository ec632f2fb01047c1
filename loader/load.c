// SPDX-License-Identifier: GPL-2.0
/* kvmyield load, kvmyield replace */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>

#include "host.h"
#include "policy.h"

static int already_attached(const struct policy *p, const struct pin *pin)
{
	struct kvmyield_status s = { };
	int status;

	status = hook_status(&s);
	if (status)
		return status;
	if (!s.id)
		return fail(REFUSED, "another policy was attached a moment ago, and has gone");
	if (hook_state(&s, pin) == HOOK_FOREIGN)
		return fail_foreign(&s, REFUSED);
	hint("kvmyield replace %s", p->word);

	return fail(REFUSED, "the policy '%s' is attached already", s.name);
}

static int attach_failed(const struct policy *p, const struct pin *pin, int err)
{
	switch (err) {
	case EBUSY:
		return already_attached(p, pin);
	case ENODEV:
		hint("modprobe kvm_amd, or kvm_intel");
		return fail(UNSUPPORTED, "neither kvm_amd nor kvm_intel is loaded: no VM could run");
	case EOPNOTSUPP:
		hint("leave vm_pid at 0");
		return fail(REFUSED, "the policy '%s' is for one VM (vm_pid %d), and this kernel takes policies for the whole host only",
			    p->name, p->vm_pid);
	case EPERM:
		hint("run it as root");
		return fail(REFUSED, "no permission to attach the policy '%s'",
			    p->name);
	default:
		return fail(REFUSED, "the kernel refused to attach the policy '%s': %s",
			    p->name, strerror_plain(err));
	}
}

static int open_with_params(struct policy *p, int argc, char **argv)
{
	int status;

	status = policy_open(p, argv[0]);
	if (!status)
		status = params_set(p, argc - 1, argv + 1);

	return status;
}

static void report(json_t *out, const char *done, const struct policy *p,
		   __u32 link_id)
{
	json_object_set_new(out, done, json_pack("{s:o,s:o,s:I,s:s,s:o}",
		"policy", json_text(p->name),
		"path", json_text(p->file.path),
		"link_id", (json_int_t)link_id,
		"pin", PIN_PATH,
		"parameters", params_json(p)));
}

/* Attach, then pin: see pin.c for what a kill in between leaves. */
static int attach_and_pin(const struct policy *p, struct pin *pin)
{
	struct bpf_link *link;
	int status;

	link = bpf_map__attach_struct_ops(p->map);
	if (!link)
		return attach_failed(p, pin, errno);

	status = pin_link(pin, bpf_link__fd(link));
	if (status)
		bpf_link_detach(bpf_link__fd(link));
	else
		link_info(bpf_link__fd(link), &pin->link_id, &pin->map_id);
	/* Closes our descriptor of the link; the pin keeps it. */
	bpf_link__destroy(link);

	return status;
}

int do_load(int argc, char **argv, json_t *out)
{
	struct pin pin = { .lock = -1, .fd = -1 };
	struct policy p;
	int status;

	status = open_with_params(&p, argc, argv);
	if (status)
		goto out_policy;
	status = host_require(NEED_BPFFS);
	if (status)
		goto out_policy;
	status = pin_open(&pin, true);
	if (status)
		goto out;
	if (pin.map_id) {
		status = already_attached(&p, &pin);
		goto out;
	}

	status = policy_load(&p);
	if (!status)
		status = attach_and_pin(&p, &pin);
	if (status)
		goto out;

	report(out, "loaded", &p, pin.link_id);
	say("loaded %s (link %u, pinned at " PIN_PATH ")", p.name, pin.link_id);
out:
	pin_close(&pin);
out_policy:
	policy_close(&p);

	return status;
}

/* Why is there no attached link of ours? */
static int nothing_to_replace(const struct policy *p, const struct pin *pin)
{
	struct kvmyield_status s = { };
	char text[128];
	int status;

	status = hook_status(&s);
	if (status)
		return status;

	switch (hook_state(&s, pin)) {
	case HOOK_FOREIGN:
		return fail_foreign(&s, NOT_LOADED);
	case HOOK_EJECTED:
		hint("kvmyield load %s", p->word);
		return fail(EJECTED, "the policy '%s' was ejected by KVM: it %s",
			    s.exit_name, exit_reason_text(&s, text, sizeof(text)));
	default:
		hint("kvmyield load %s", p->word);
		return fail(NOT_LOADED, "nothing is loaded that could be replaced");
	}
}

/*
 * Give the new map its value, which the kernel wants before a link may take it.
 *
 * The value in the kernel's layout is libbpf's, and the only way to it is
 * bpf_map__attach_struct_ops(): it uploads the value and then asks for a link
 * of its own, which is refused as long as the old policy is attached. (The call
 * that is meant for this, bpf_link__update_map(), takes links that libbpf
 * itself attached, not those from a pin.) If it is not refused, the old policy
 * has just gone, and so must the new one: replacing is not loading.
 */
static int upload_value(const struct policy *p, const struct pin *pin)
{
	struct bpf_link *link;

	link = bpf_map__attach_struct_ops(p->map);
	if (!link)
		return errno == EBUSY ? DONE : attach_failed(p, pin, errno);

	bpf_link_detach(bpf_link__fd(link));
	bpf_link__destroy(link);

	return nothing_to_replace(p, pin);
}

static int update_link(const struct policy *p, const struct pin *pin)
{
	LIBBPF_OPTS(bpf_link_update_opts, opts, .flags = BPF_F_REPLACE);
	int old_map, err;

	old_map = bpf_map_get_fd_by_id(pin->map_id);
	if (old_map < 0)
		return nothing_to_replace(p, pin);
	opts.old_map_fd = old_map;
	err = bpf_link_update(pin->fd, bpf_map__fd(p->map), &opts);
	close(old_map);

	switch (err) {
	case 0:
		return DONE;
	case -ESTALE:
	case -ENOLINK:
		return nothing_to_replace(p, pin);
	case -EPERM:
		return fail(REFUSED, "another program replaced the policy at the same time");
	default:
		return attach_failed(p, pin, -err);
	}
}

int do_replace(int argc, char **argv, json_t *out)
{
	struct pin pin = { .lock = -1, .fd = -1 };
	struct policy p;
	int status;

	status = open_with_params(&p, argc, argv);
	if (status)
		goto out_policy;
	status = host_require(NEED_BPFFS);
	if (status)
		goto out_policy;
	status = pin_open(&pin, false);
	if (status)
		goto out;
	if (!pin.map_id) {
		status = nothing_to_replace(&p, &pin);
		goto out;
	}

	status = policy_load(&p);
	if (!status)
		status = upload_value(&p, &pin);
	if (!status)
		status = update_link(&p, &pin);
	if (status)
		goto out;

	report(out, "loaded", &p, pin.link_id);
	say("replaced by %s (link %u, pinned at " PIN_PATH ")", p.name,
	    pin.link_id);
out:
	pin_close(&pin);
out_policy:
	policy_close(&p);

	return status;
}
