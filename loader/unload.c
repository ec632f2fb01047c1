// SPDX-License-Identifier: GPL-2.0
/* kvmyield unload */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
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

static int count_entries(const char *path)
{
	struct dirent *d;
	int n = 0;
	DIR *dir;

	dir = opendir(path);
	if (!dir)
		return 0;
	while ((d = readdir(dir)))
		n += d->d_name[0] != '.';
	closedir(dir);

	return n;
}

static int read_int(const char *path)
{
	int value = -1;
	FILE *f;

	f = fopen(path, "r");
	if (!f)
		return -1;
	if (fscanf(f, "%d", &value) != 1)
		value = -1;
	fclose(f);

	return value;
}

/*
 * The kernel frees maps and programs a little later, and they hold KVM till
 * then. Whoever calls rmmod next should not have to know. Never long: something
 * else may hold KVM, too.
 */
static void wait_for_release(void)
{
	int i;

	for (i = 0; i < 100; i++) {
		if (read_int("/sys/module/kvm/refcnt") <=
		    count_entries("/sys/module/kvm/holders"))
			return;
		usleep(10000);
	}
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
	wait_for_release();

	json_object_set_new(out, "unloaded", json_pack("{s:o,s:I}",
		"policy", json_text(s.name),
		"link_id", (json_int_t)s.link_id));
	say("unloaded %s (link %u)", s.name, s.link_id);

	return DONE;
}
