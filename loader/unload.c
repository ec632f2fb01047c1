// SPDX-License-Identifier: GPL-2.0
/* kvmyield unload */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>

#include "host.h"

/*
 * Detached, not only unpinned: it goes although another process may have the
 * link open. Then the pin: a kill in between leaves a pin without a policy,
 * which load replaces.
 */
static int detach_ours(struct pin *pin)
{
	int err;

	err = bpf_link_detach(pin->fd);
	if (err)
		return fail(REFUSED, "the kernel refused to detach link %u: %s",
			    pin->link_id, strerror_plain(-err));

	return pin_remove(pin);
}

static int detach_foreign(const struct kvmyield_status *s)
{
	int fd, err;

	fd = bpf_link_get_fd_by_id(s->link_id);
	if (fd < 0)
		return fail(REFUSED, "cannot get at link %u: %s", s->link_id,
			    strerror_plain(-fd));
	err = bpf_link_detach(fd);
	close(fd);
	if (err)
		return fail(REFUSED, "the kernel refused to detach link %u: %s",
			    s->link_id, strerror_plain(-err));

	return DONE;
}

static int nothing_attached(struct pin *pin, const struct kvmyield_status *s,
			    enum hook_state state)
{
	char text[128];
	int status;

	if (state == HOOK_NONE)
		return fail(NOT_LOADED, "nothing is loaded");

	/* The pin has told its story once. */
	status = pin_remove(pin);
	if (status)
		return status;
	if (state == HOOK_EJECTED)
		return fail(NOT_LOADED, "nothing is loaded: KVM has ejected the policy '%s', as it %s",
			    s->exit_name, exit_reason_text(s, text, sizeof(text)));

	return fail(NOT_LOADED, "nothing is loaded: link %u was detached by someone else",
		    pin->link_id);
}

static int unload(struct pin *pin, const struct kvmyield_status *s)
{
	enum hook_state state = hook_state(s, pin);

	switch (state) {
	case HOOK_OURS:
		return detach_ours(pin);
	case HOOK_FOREIGN:
		if (opt.force)
			return detach_foreign(s);
		return fail_foreign(s, NOT_LOADED);
	default:
		return nothing_attached(pin, s, state);
	}
}

int do_unload(int argc, char **argv, json_t *out)
{
	struct kvmyield_status s = { };
	struct pin pin;
	int status;

	status = host_require(NEED_HOOK);
	if (status)
		return status;
	status = pin_open(&pin, false);
	if (!status)
		status = hook_status(&s);
	if (!status)
		status = unload(&pin, &s);
	pin_close(&pin);
	if (status)
		return status;

	json_object_set_new(out, "unloaded", json_pack("{s:o,s:I}",
		"policy", json_text(s.name),
		"link_id", (json_int_t)s.link_id));
	say("unloaded %s (link %u)", s.name, s.link_id);

	return DONE;
}
