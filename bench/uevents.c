// SPDX-License-Identifier: GPL-2.0
/*
 * uevents: how many uevents of VMs has the kernel sent, and how many of them has
 * udevd been through?
 *
 * It listens until its standard input ends, and looks at what has arrived only
 * then: to wake up for each event would cost the CPU time that is being measured.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Netlink's groups of uevents: as the kernel sends them, and as udevd sends them on. */
#define GROUP_KERNEL	1
#define GROUP_UDEV	2

/* Some 100,000 events. */
#define ROOM		(512 << 20)

/* What udevd puts before the fields; libudev's, and the same since 2009. */
struct udev_header {
	char		prefix[8];
	uint32_t	magic;
	uint32_t	header_size;
	uint32_t	properties_off;
	uint32_t	properties_len;
};

struct counts {
	unsigned long	created;
	unsigned long	destroyed;
	unsigned long	handled;
	unsigned long	others;
};

static int fail(const char *what, const char *hint)
{
	fprintf(stderr, "uevents: %s: %s\n", what, strerror(errno));
	if (hint)
		fprintf(stderr, "hint: %s\n", hint);

	return 2;
}

static int listen_to(int groups)
{
	struct sockaddr_nl addr = { .nl_family = AF_NETLINK, .nl_groups = groups };
	int size = ROOM, fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) ||
	    bind(fd, (void *)&addr, sizeof(addr)))
		return -1;

	return fd;
}

/* Fields stand one after the other, each with a zero at its end. */
static int has_field(const char *from, const char *end, const char *field)
{
	for (; from < end; from += strlen(from) + 1) {
		if (!strcmp(from, field))
			return 1;
	}

	return 0;
}

static void count(struct counts *c, const char *msg, size_t len)
{
	const struct udev_header *h = (const void *)msg;
	int by_udev = len > sizeof(*h) && !memcmp(msg, "libudev", sizeof(h->prefix));
	const char *end = msg + len, *fields = msg;
	int created, destroyed;

	if (by_udev)
		fields = h->properties_off < len ? msg + h->properties_off : end;
	created = has_field(fields, end, "EVENT=create");
	destroyed = has_field(fields, end, "EVENT=destroy");
	if (!has_field(fields, end, "SUBSYSTEM=misc") || !(created || destroyed))
		c->others += !by_udev;
	else if (by_udev)
		c->handled++;
	else if (created)
		c->created++;
	else
		c->destroyed++;
}

static int count_all(int fd, struct counts *c)
{
	char msg[16384];
	ssize_t len;

	while ((len = recv(fd, msg, sizeof(msg) - 1, MSG_DONTWAIT)) >= 0) {
		msg[len] = 0;
		count(c, msg, len);
	}
	if (errno == ENOBUFS)
		return fail("some events found no room and are lost", "ask after fewer of them");

	return errno == EAGAIN ? 0 : fail("events cannot be received", NULL);
}

int main(int argc, char **argv)
{
	struct counts c = { };
	char nothing;
	int fd;

	if (argc > 1) {
		fputs("usage: uevents\n\n"
		      "Says \"listening\", waits for the end of its standard input, and says how many\n"
		      "uevents of VMs there were meanwhile: created, destroyed, those of both that udevd\n"
		      "has handled, and the kernel's events about other things.\n\n"
		      "Exit status: 0 done, 1 wrong usage, 2 refused by the kernel.\n", stderr);
		return 1;
	}
	fd = listen_to(GROUP_KERNEL | GROUP_UDEV);
	if (fd < 0)
		return fail("uevents cannot be listened to", "be root");
	puts("listening");
	fflush(stdout);
	while (read(STDIN_FILENO, &nothing, 1) > 0)
		;
	if (count_all(fd, &c))
		return 2;
	printf("created %lu destroyed %lu handled %lu others %lu\n",
	       c.created, c.destroyed, c.handled, c.others);

	return 0;
}
