// SPDX-License-Identifier: GPL-2.0
/* A file that is there as a whole or not at all, whoever reads it and whatever fails. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stats.h"

static int cannot(const char *path, int err)
{
	return fail(REFUSED, "%s cannot be written: %s", path, strerror_plain(err));
}

static int write_all(int fd, const char *text, size_t len)
{
	ssize_t n;

	while (len) {
		n = write(fd, text, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		text += n;
		len -= n;
	}

	return 0;
}

/* Readers are others than the writer: node_exporter has a user of its own. */
static int fill(int fd, const char *text, size_t len)
{
	mode_t mask = umask(0);
	int err;

	umask(mask);
	err = write_all(fd, text, len);
	if (!err && (fchmod(fd, 0644 & ~mask) || fsync(fd)))
		err = errno;

	return err;
}

/* The name is on disk only with its directory. */
static void sync_dir(const char *path)
{
	char dir[PATH_MAX];
	char *slash;
	int fd;

	snprintf(dir, sizeof(dir), "%s", path);
	slash = strrchr(dir, '/');
	if (slash)
		slash[slash == dir] = '\0';
	fd = open(slash ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	fsync(fd);
	close(fd);
}

/**
 * write_file - write a file, replacing one of that name at once
 * @path: its name
 * @text: what shall be in it
 * @len: how much that is
 *
 * Return: an exit status; if it is not DONE, what was there is there still
 */
int write_file(const char *path, const char *text, size_t len)
{
	char temp[PATH_MAX];
	const char *base = strrchr(path, '/');
	struct stat st;
	int fd, err, n;

	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return fail(USAGE, "%s is no regular file", path);
	base = base ? base + 1 : path;
	/* Hidden, and without its suffix: who collects *.prom does not see it. */
	n = snprintf(temp, sizeof(temp), "%.*s.%s.XXXXXX", (int)(base - path),
		     path, base);
	if (n < 0 || (size_t)n >= sizeof(temp))
		return cannot(path, ENAMETOOLONG);
	fd = mkostemp(temp, O_CLOEXEC);
	if (fd < 0)
		return cannot(path, errno);

	err = fill(fd, text, len);
	if (close(fd) && !err)
		err = errno;
	if (!err && rename(temp, path))
		err = errno;
	if (err) {
		unlink(temp);
		return cannot(path, err);
	}
	sync_dir(path);

	return DONE;
}
