// SPDX-License-Identifier: GPL-2.0
/*
 * The pin: what keeps a policy attached when the loader ends.
 *
 * A link lives as long as somebody has it open or it has a name in bpffs. A
 * loader that is killed between attaching and pinning takes its link with it,
 * so that a policy is either pinned or gone.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <linux/bpf.h>
#include <bpf/bpf.h>

#include "host.h"

#define LOCK_TRIES	100
#define LOCK_WAIT_NS	(100 * 1000 * 1000)

/* Another loader needs milliseconds; one that was stopped must not stop us. */
static int lock_dir(int fd)
{
	const struct timespec wait = { .tv_nsec = LOCK_WAIT_NS };
	int i;

	for (i = 0; i < LOCK_TRIES; i++) {
		if (!flock(fd, LOCK_EX | LOCK_NB))
			return DONE;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return fail(REFUSED, "cannot lock " PIN_DIR ": %s",
				    strerror_plain(errno));
		nanosleep(&wait, NULL);
	}
	hint("fuser " PIN_DIR " names it");

	return fail(REFUSED, "another kvmyield has been at work for 10 seconds");
}

/* Nobody else may put a link of theirs where we look for ours. */
static int check_dir(int fd, struct stat *st)
{
	if (fstat(fd, st))
		return fail(REFUSED, "cannot look at " PIN_DIR ": %s",
			    strerror_plain(errno));
	if (st->st_uid != geteuid() || st->st_mode & (S_IWGRP | S_IWOTH)) {
		hint("remove it, or give it to root with mode 0700");
		return fail(REFUSED, "the directory " PIN_DIR " is open to other users");
	}

	return DONE;
}

/*
 * The lock is on the directory, which the last one out removes: what was locked
 * must still be what is there.
 */
static int open_dir(int *lock, bool create)
{
	struct stat here, there;
	int fd, status;

	*lock = -1;
	for (;;) {
		if (create && mkdir(PIN_DIR, 0700) && errno != EEXIST)
			return fail(REFUSED, "cannot make the directory " PIN_DIR ": %s",
				    strerror_plain(errno));
		fd = open(PIN_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		if (fd < 0 && errno == ENOENT) {
			if (create)
				continue;
			return DONE;
		}
		if (fd < 0)
			return fail(REFUSED, "cannot open " PIN_DIR ": %s",
				    strerror_plain(errno));

		status = check_dir(fd, &here);
		if (!status)
			status = lock_dir(fd);
		if (status) {
			close(fd);
			return status;
		}
		if (!stat(PIN_DIR, &there) && here.st_ino == there.st_ino &&
		    here.st_dev == there.st_dev) {
			*lock = fd;
			return DONE;
		}
		close(fd);
	}
}

/**
 * link_info - look at a link
 * @fd: the link
 * @link_id: receives its id
 * @map_id: receives the id of its struct_ops map; 0: it has none any more
 *
 * Return: 0, or a negative errno; -EINVAL if it is not a struct_ops link
 */
int link_info(int fd, __u32 *link_id, __u32 *map_id)
{
	struct bpf_link_info info = { };
	__u32 len = sizeof(info);
	int err;

	err = bpf_obj_get_info_by_fd(fd, &info, &len);
	if (err)
		return err;
	if (info.type != BPF_LINK_TYPE_STRUCT_OPS)
		return -EINVAL;
	*link_id = info.id;
	*map_id = info.struct_ops.map_id;

	return 0;
}

static int read_pin(struct pin *pin)
{
	int err;

	pin->fd = bpf_obj_get(PIN_PATH);
	if (pin->fd == -ENOENT)
		return DONE;
	if (pin->fd < 0)
		return fail(REFUSED, "cannot open the pin " PIN_PATH ": %s",
			    strerror_plain(-pin->fd));

	err = link_info(pin->fd, &pin->link_id, &pin->map_id);
	if (!err)
		return DONE;
	hint("rm " PIN_PATH);

	return fail(REFUSED, "what is pinned at " PIN_PATH " is not the link of a policy");
}

/**
 * pin_open - lock and read the pin
 * @pin: receives it; to be closed, also after a failure
 * @create: make its directory
 *
 * Return: an exit status; DONE also if nothing is pinned
 */
int pin_open(struct pin *pin, bool create)
{
	int status;

	memset(pin, 0, sizeof(*pin));
	pin->fd = -1;
	status = open_dir(&pin->lock, create);
	if (status || pin->lock < 0)
		return status;

	return read_pin(pin);
}

/* Read the pin without waiting for a loader that is at work. */
int pin_peek(struct pin *pin)
{
	memset(pin, 0, sizeof(*pin));
	pin->lock = -1;

	return read_pin(pin);
}

/**
 * pin_link - pin a link in the place of the detached one, if there is one
 * @pin: locked
 * @fd: the link
 *
 * Killed between the two steps, nothing is left: the link dies with us.
 *
 * Return: an exit status
 */
int pin_link(struct pin *pin, int fd)
{
	int err;

	if (pin->fd >= 0 && unlink(PIN_PATH) && errno != ENOENT)
		return fail(REFUSED, "cannot remove the old pin " PIN_PATH ": %s",
			    strerror_plain(errno));
	err = bpf_obj_pin(fd, PIN_PATH);
	if (err)
		return fail(REFUSED, "cannot pin the policy at " PIN_PATH ": %s",
			    strerror_plain(-err));

	return DONE;
}

int pin_remove(struct pin *pin)
{
	if (unlink(PIN_PATH) && errno != ENOENT)
		return fail(REFUSED, "cannot remove the pin " PIN_PATH ": %s",
			    strerror_plain(errno));

	return DONE;
}

void pin_close(struct pin *pin)
{
	if (pin->fd >= 0)
		close(pin->fd);
	if (pin->lock >= 0) {
		/* Stays unless it is empty. */
		rmdir(PIN_DIR);
		close(pin->lock);
	}
	pin->fd = -1;
	pin->lock = -1;
}
