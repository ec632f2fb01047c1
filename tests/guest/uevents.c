// SPDX-License-Identifier: GPL-2.0
/*
 * Are uevents of VMs true at each event, while they are switched on and off?
 *
 * usage: test-uevents [OPERATIONS [SEED]]
 *
 * Workers create and destroy VMs, one at a time, so that what each event must
 * say is known; a thread toggles vm_uevents meanwhile. Then they do so all at
 * once, and with uevents off. Nobody else may create VMs.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <linux/netlink.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vm.h"

#define PARAM		"/sys/module/kvm/parameters/vm_uevents"
#define NR_WORKERS	4
#define VMS_EACH	4
#define MANY		50
#define NOBODY		65534

struct uevent {
	bool			create;
	unsigned long long	created;
	unsigned long long	count;
	int			pid;
	char			path[64];
};

struct worker {
	pid_t	pid;
	int	orders;
	int	answers;
	int	vms[VMS_EACH];
};

static struct worker workers[NR_WORKERS];
static int uevents;
static int tap_nr, tap_failed;

/* How often vm_uevents was changed, in steps of 4; plus 2 if it is on, plus 1 while that changes. */
static unsigned long toggles;
static volatile bool toggling;

static void report(bool ok, const char *what)
{
	printf("%sok %d - %s\n", ok ? "" : "not ", ++tap_nr, what);
	fflush(stdout);
	tap_failed += !ok;
}

static void set_param(bool on)
{
	int fd = open(PARAM, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, on ? "Y" : "N", 1) != 1)
		die("cannot write " PARAM);
	close(fd);
}

static void listen_to_uevents(void)
{
	struct sockaddr_nl addr = { .nl_family = AF_NETLINK, .nl_groups = 1 };
	int size = 64 << 20;

	uevents = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);
	if (uevents < 0 || bind(uevents, (void *)&addr, sizeof(addr)) ||
	    setsockopt(uevents, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		die("cannot listen to uevents");
}

static void parse_field(struct uevent *e, const char *field)
{
	sscanf(field, "CREATED=%llu", &e->created);
	sscanf(field, "COUNT=%llu", &e->count);
	sscanf(field, "PID=%d", &e->pid);
	sscanf(field, "STATS_PATH=%63s", e->path);
	if (!strcmp(field, "EVENT=create"))
		e->create = true;
}

/* The next event of KVM's that has arrived; they are sent before the ioctl or close() returns. */
static bool next_event(struct uevent *e)
{
	char buf[8192], *field;
	ssize_t len;

	while ((len = recv(uevents, buf, sizeof(buf) - 1, MSG_DONTWAIT)) > 0) {
		buf[len] = 0;
		if (!strstr(buf, "/misc/kvm"))
			continue;
		memset(e, 0, sizeof(*e));
		for (field = buf; field < buf + len; field += strlen(field) + 1)
			parse_field(e, field);
		return true;
	}
	if (errno != EAGAIN)
		die("cannot receive uevents");
	return false;
}

static int create_vm(int kvm)
{
	int fd = ioctl(kvm, KVM_CREATE_VM, 0);

	return fd < 0 ? -errno : fd;
}

/* Orders: -1: create; -2: create many, and destroy them; otherwise close that file. */
static void work(int orders, int answers)
{
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	int order, answer, i;

	while (read(orders, &order, sizeof(order)) == sizeof(order)) {
		if (order == -1)
			answer = create_vm(kvm);
		else if (order == -2)
			for (i = answer = 0; i < MANY; i++)
				answer |= close(create_vm(kvm));
		else
			answer = close(order);
		if (write(answers, &answer, sizeof(answer)) != sizeof(answer))
			break;
	}
	_exit(0);
}

static void start_worker(struct worker *w)
{
	int orders[2], answers[2], i;

	if (pipe2(orders, O_CLOEXEC) || pipe2(answers, O_CLOEXEC))
		die("cannot make a pipe");
	for (i = 0; i < VMS_EACH; i++)
		w->vms[i] = -1;
	w->orders = orders[1];
	w->answers = answers[0];
	w->pid = fork();
	if (!w->pid) {
		close(orders[1]);
		work(orders[0], answers[1]);
	}
	close(orders[0]);
	close(answers[1]);
}

static void order(const struct worker *w, int what)
{
	if (write(w->orders, &what, sizeof(what)) != sizeof(what))
		die("a worker has died");
}

static int answer(const struct worker *w)
{
	int what;

	if (read(w->answers, &what, sizeof(what)) != sizeof(what))
		die("a worker has died");
	return what;
}

static int tell(const struct worker *w, int what)
{
	order(w, what);
	return answer(w);
}

static void *toggle(void *unused)
{
	unsigned int seed = 1;
	unsigned long n;

	while (toggling) {
		n = toggles;
		__atomic_store_n(&toggles, n | 1, __ATOMIC_SEQ_CST);
		set_param(!(n & 2));
		__atomic_store_n(&toggles, (n ^ 2) + 4, __ATOMIC_SEQ_CST);
		usleep(rand_r(&seed) % 4000);
	}
	return NULL;
}

/* Of the last VM that a close() in another process destroys: its maker's PID is told. */
static int close_for(const struct worker *w, int fd)
{
	int pidfd = syscall(SYS_pidfd_open, w->pid, 0);
	int mine = syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	int rc = mine < 0 ? -1 : tell(w, fd);

	close(pidfd);
	return rc ?: close(mine);
}

struct tally {
	unsigned long long	created;
	unsigned long long	count;
	unsigned int		wrong;
	unsigned int		sent;
	unsigned int		untold;
};

static void complain(struct tally *t, const char *what, const struct uevent *e)
{
	if (t->wrong++ < 5)
		printf("#  %s: created %llu, expected %llu; count %llu, expected %llu; pid %d; path %s\n",
		       what, e->created, t->created, e->count, t->count, e->pid, e->path);
}

/* The directory was there when the event was sent, and is gone after the end of the VM. */
static bool right_path(const struct uevent *e, int pid, int fd)
{
	char want[64], full[128];
	struct stat st;

	snprintf(want, sizeof(want), "/kvm/%d-%d", pid, fd);
	snprintf(full, sizeof(full), "/sys/kernel/debug%s", want);
	return !strcmp(e->path, want) && !stat(full, &st) == e->create;
}

/* After one operation, during which the parameter changed if before and after differ. */
static void check_events(struct tally *t, bool create, const struct worker *w, int fd,
			 unsigned long before)
{
	bool steady = before == __atomic_load_n(&toggles, __ATOMIC_SEQ_CST) && !(before & 1);
	struct uevent e = { };
	unsigned int n = 0;

	while (next_event(&e)) {
		n++;
		if (e.create != create || e.created != t->created || e.count != t->count ||
		    e.pid != w->pid)
			complain(t, create ? "after a creation" : "after a destruction", &e);
		else if (!right_path(&e, w->pid, fd))
			complain(t, "the path is wrong", &e);
	}
	if (n > 1 || (steady && n != !!(before & 2)))
		complain(t, n ? "an event too many" : "no event", &e);
	t->sent += n;
	t->untold += !n;
}

static void one_operation(struct tally *t, unsigned int *seed)
{
	struct worker *w = &workers[rand_r(seed) % NR_WORKERS];
	int *vm = &w->vms[rand_r(seed) % VMS_EACH], fd = *vm, rc;
	unsigned long before = __atomic_load_n(&toggles, __ATOMIC_SEQ_CST);
	bool create = fd < 0;

	if (create) {
		rc = fd = *vm = tell(w, -1);
		t->created++;
		t->count++;
	} else {
		rc = rand_r(seed) % 4 ? tell(w, fd) : close_for(w, fd);
		t->count--;
		*vm = -1;
	}
	if (rc < 0)
		die("a worker cannot %s a VM: %d", create ? "create" : "destroy", rc);
	check_events(t, create, w, fd, before);
}

/* What the counts are now: asked by one VM more. */
static struct tally ask(void)
{
	struct worker *w = &workers[0];
	struct tally t = { };
	struct uevent e;
	int fd;

	while (next_event(&e))
		;
	set_param(true);
	fd = tell(w, -1);
	if (fd < 0 || !next_event(&e) || !e.create)
		die("a VM's creation is not told");
	tell(w, fd);
	t.created = e.created;
	t.count = e.count - 1;
	if (!next_event(&e) || e.create || e.count != t.count)
		die("a VM's destruction is not told, or not counted");
	return t;
}

static void one_at_a_time(int operations, unsigned int seed)
{
	struct tally t = ask();
	pthread_t thread;
	char what[128];
	int i;

	toggles = 2;
	toggling = true;
	pthread_create(&thread, NULL, toggle, NULL);
	for (i = 0; i < operations; i++)
		one_operation(&t, &seed);
	toggling = false;
	pthread_join(thread, NULL);
	snprintf(what, sizeof(what),
		 "counts, PID and path right in %u events, while %u others were switched off",
		 t.sent, t.untold);
	report(!t.wrong && t.sent && t.untold && t.sent + t.untold == (unsigned int)operations, what);
}

/* Counts cannot be foretold here, but each creation has its own, and none is out of bounds. */
static void all_at_once(void)
{
	struct tally before = ask(), after;
	unsigned int events = 0, wrong = 0;
	pthread_t thread;
	struct uevent e;
	int i;

	toggles = 2;
	toggling = true;
	pthread_create(&thread, NULL, toggle, NULL);
	for (i = 0; i < NR_WORKERS; i++)
		order(&workers[i], -2);
	for (i = 0; i < NR_WORKERS; i++)
		wrong += answer(&workers[i]) != 0;
	toggling = false;
	pthread_join(thread, NULL);
	while (next_event(&e)) {
		events++;
		wrong += e.count > before.count + NR_WORKERS || e.count < before.count ||
			 e.created <= before.created ||
			 e.created > before.created + NR_WORKERS * MANY;
	}
	report(events && !wrong, "VMs of several processes at once: no count out of bounds");
	after = ask();
	report(after.created == before.created + NR_WORKERS * MANY + 1 && after.count == before.count,
	       "and all of them are counted, those also that were not announced");
}

static void switched_off(void)
{
	struct tally before = ask(), after;
	unsigned int events = 0;
	struct uevent e;

	set_param(false);
	tell(&workers[0], -2);
	while (next_event(&e))
		events++;
	report(!events, "no uevent while they are switched off");
	after = ask();
	report(after.created == before.created + MANY + 1 && after.count == before.count,
	       "what happened meanwhile is counted");
}

static void set_file_max(unsigned long n)
{
	FILE *f = fopen("/proc/sys/fs/file-max", "w");

	if (!f || fprintf(f, "%lu\n", n) < 0 || fclose(f))
		die("cannot write fs.file-max");
}

/* The file of the VM is the last thing that can fail, and does if there are too many files. */
static void creation_that_fails(void)
{
	struct tally before = ask(), after;
	unsigned long old, used;
	unsigned int events = 0;
	struct uevent e;
	int status, kvm;
	FILE *f;

	f = fopen("/proc/sys/fs/file-nr", "r");
	if (!f || fscanf(f, "%lu %*u %lu", &used, &old) != 2)
		die("cannot read fs.file-nr");
	fclose(f);
	kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	set_file_max(1);
	if (!fork())
		_exit(setresuid(NOBODY, NOBODY, NOBODY) || ioctl(kvm, KVM_CREATE_VM, 0) >= 0 ?
		      0 : errno);
	wait(&status);
	set_file_max(old);
	close(kvm);
	while (next_event(&e))
		events++;
	after = ask();
	if (WEXITSTATUS(status) != ENFILE)
		printf("#  the creation ended with %d\n", WEXITSTATUS(status));
	report(WEXITSTATUS(status) == ENFILE && !events && after.count == before.count &&
	       after.created == before.created + 1,
	       "a VM whose creation fails at the last step is neither announced nor counted");
}

int main(int argc, char **argv)
{
	int operations = argc > 1 ? atoi(argv[1]) : 2000, i;
	bool param = !access(PARAM, F_OK);

	listen_to_uevents();
	for (i = 0; i < NR_WORKERS; i++)
		start_worker(&workers[i]);
	report(param, "the parameter vm_uevents is there");
	if (!param)
		return 1;
	one_at_a_time(operations, argc > 2 ? atoi(argv[2]) : 1);
	all_at_once();
	switched_off();
	creation_that_fails();
	for (i = 0; i < NR_WORKERS; i++)
		close(workers[i].orders);
	printf("1..%d\n", tap_nr);
	return !!tap_failed;
}
