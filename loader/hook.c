// SPDX-License-Identifier: GPL-2.0
/* Ask the hook for its state: by a BPF program, as only those can call it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/bpf.h>

#include "host.h"
#include "policy.h"
#include "status.skel.h"

/* enum kvm_yield_exit_reason */
#define EXIT_REFUSALS	1

/* Room for the first 190 VMs or so; the kernel says how many there are. */
#define VMS_ROOM	(64 << 10)
#define VMS_ROOM_MAX	(64 << 20)
#define VMS_TRIES	4

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

/* @room: bytes for what the kernel tells of the VMs; 0: they are not asked for */
static struct status_bpf *load_programs(__u32 room)
{
	struct status_bpf *skel = status_bpf__open();
	int err;

	if (!skel)
		return NULL;

	bpf_program__set_autoload(skel->progs.read_status, !room);
	bpf_program__set_autoload(skel->progs.read_vms, room);
	bpf_map__set_autocreate(skel->maps.vms, room);
	if (room) {
		bpf_map__set_value_size(skel->maps.vms, room);
		skel->rodata->vms_room = room;
	}
	err = status_bpf__load(skel);
	if (err) {
		status_bpf__destroy(skel);
		errno = -err;
		return NULL;
	}

	return skel;
}

static int run_program(struct status_bpf *skel, struct bpf_program *prog,
		       struct kvmyield_status *s)
{
	LIBBPF_OPTS(bpf_test_run_opts, run);
	int err;

	err = bpf_prog_test_run_opts(bpf_program__fd(prog), &run);
	if (!err && skel->bss->status.ret < 0)
		err = skel->bss->status.ret;
	if (err == -ENOSYS)
		return fail(UNSUPPORTED, "this kernel's KVM does not tell the state of its hook");
	if (err)
		return status_failed(err);

	*s = skel->bss->status;
	/* Bounded, whatever the kernel wrote. */
	s->name[sizeof(s->name) - 1] = '\0';
	s->exit_name[sizeof(s->exit_name) - 1] = '\0';
	plain_text(s->name);
	plain_text(s->exit_name);

	return DONE;
}

/**
 * hook_status - ask KVM which policy is attached and what it has done
 * @s: receives the answer
 *
 * Return: an exit status
 */
int hook_status(struct kvmyield_status *s)
{
	struct status_bpf *skel;
	int status;

	libbpf_listen();
	skel = load_programs(0);
	if (!skel)
		return status_failed(-errno);
	status = run_program(skel, skel->progs.read_status, s);
	status_bpf__destroy(skel);

	return status;
}

/* The VMs that fitted into @room; *@more: room for all of them, or 0. */
static int take_vms(const struct status_bpf *skel, __u32 room,
		    struct vms *vms, __u32 *more)
{
	const struct kvmyield_vms *layout = &skel->bss->vms_read;
	size_t n = layout->ret, fit;
	__u32 key = 0;
	void *image;
	int status;

	*more = 0;
	if (layout->ret == -ENOSYS || !layout->size)
		return DONE;
	if (layout->ret < 0)
		return fail(REFUSED, "KVM does not tell of its VMs: %s",
			    strerror_plain(-layout->ret));

	fit = room / layout->size;
	if (n > fit) {
		/* They may become more until they are asked for again. */
		if ((n + n / 4) * layout->size < VMS_ROOM_MAX)
			*more = (n + n / 4) * layout->size;
		n = fit;
	}
	image = malloc(room);
	if (!image)
		return fail(REFUSED, "out of memory");
	if (bpf_map_lookup_elem(bpf_map__fd(skel->maps.vms), &key, image))
		status = fail(REFUSED, "what KVM tells of its VMs cannot be read: %s",
			      strerror_plain(errno));
	else
		status = vms_take(vms, layout, image, n);
	free(image);
	vms->complete = n == (size_t)layout->ret;

	return status;
}

static int read_vms(__u32 *room, struct kvmyield_status *s, struct vms *vms,
		    bool *settled)
{
	struct status_bpf *skel;
	__u32 more = 0;
	int status;

	libbpf_listen();
	skel = load_programs(*room);
	if (!skel)
		return status_failed(-errno);
	status = run_program(skel, skel->progs.read_vms, s);
	if (!status)
		status = take_vms(skel, *room, vms, &more);
	/* What another policy did is counted from 0. */
	*settled = !more && skel->bss->vms_read.id == s->id;
	if (more)
		*room = more;
	status_bpf__destroy(skel);

	return status;
}

/**
 * hook_vms - ask KVM for its VMs too
 * @s: receives what hook_status() gives
 * @vms: receives the VMs; release it with vms_free()
 *
 * All VMs are told by one call, as they were at one moment. They may become too
 * many for it meanwhile, or the policy may be replaced: then it is done again, a
 * few times.
 *
 * Return: an exit status
 */
int hook_vms(struct kvmyield_status *s, struct vms *vms)
{
	__u32 room = VMS_ROOM;
	bool settled = false;
	int i, status = DONE;

	memset(vms, 0, sizeof(*vms));
	for (i = 0; i < VMS_TRIES && !settled && !status; i++) {
		vms_free(vms);
		status = read_vms(&room, s, vms, &settled);
	}

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
