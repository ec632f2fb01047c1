// SPDX-License-Identifier: GPL-2.0
/*
 * What VMs have in debugfs, with each value of vm_debugfs.
 *
 * usage: test-vmfiles now|tree VCPUS      a VM's files at once, or in the end
 *        test-vmfiles late VMS            vCPUs created at random moments
 *        test-vmfiles die VMS             VMs that die at random moments
 *        test-vmfiles life                a mode is for life; a name taken twice
 *
 * The mode is the one that is set, but for life. The last three say what was
 * wrong and end with 1.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/kvm.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "vm.h"

#define PARAM		"/sys/module/kvm/parameters/vm_debugfs"
#define TOP		"/sys/kernel/debug/kvm"
#define TREE_MAX	400
#define LINE_MAX_LEN	80
/* Seconds of which a tree is awaited, and for which it has not to change. */
#define PATIENCE	20
#define SETTLED		1
/* The statistics come after 100 ms: deaths and births are drawn from around that. */
#define MOMENT_US	200000
#define NR_MAKERS	8

struct tree {
	int	nr;
	char	lines[TREE_MAX][LINE_MAX_LEN];
};

static struct tree reading;
static size_t reading_from;

static void set_mode(const char *mode)
{
	int fd = open(PARAM, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, mode, strlen(mode)) < 0)
		die("cannot set vm_debugfs to %s", mode);
	close(fd);
}

static int new_vm(void)
{
	static int kvm;
	int vm;

	if (!kvm)
		kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	vm = ioctl(kvm, KVM_CREATE_VM, 0);
	if (vm < 0 || ioctl(vm, KVM_CREATE_IRQCHIP, 0))
		die("cannot create a VM");
	return vm;
}

static int new_vcpu(int vm, int id)
{
	int vcpu = ioctl(vm, KVM_CREATE_VCPU, id);

	if (vcpu < 0)
		die("cannot create a vCPU");
	return vcpu;
}

static void path_of(int vm, char *path)
{
	sprintf(path, TOP "/%d-%d", getpid(), vm);
}

static bool has_dir(int vm)
{
	char path[64];

	path_of(vm, path);
	return !access(path, F_OK);
}

static int add_line(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	if (reading.nr == TREE_MAX)
		die("more than %d files", TREE_MAX);
	snprintf(reading.lines[reading.nr++], LINE_MAX_LEN, "%06o %u:%u %s", st->st_mode, st->st_uid,
		 st->st_gid, path + reading_from);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* While it grows, nftw() may come upon anything: what it found is then not final. */
static const struct tree *read_tree(int vm)
{
	char path[64];

	path_of(vm, path);
	reading.nr = 0;
	reading_from = strlen(path);
	nftw(path, add_line, 8, FTW_PHYS);
	qsort(reading.lines, reading.nr, LINE_MAX_LEN, by_name);
	return &reading;
}

static bool same_tree(const struct tree *a, const struct tree *b)
{
	int i;

	for (i = 0; i < a->nr && i < b->nr; i++)
		if (strcmp(a->lines[i], b->lines[i]))
			return false;
	return a->nr == b->nr;
}

static void settled_tree(int vm, struct tree *tree)
{
	time_t since = time(NULL), end = since + PATIENCE;

	*tree = *read_tree(vm);
	while (time(NULL) <= since + SETTLED && time(NULL) < end) {
		usleep(50000);
		if (same_tree(tree, read_tree(vm)))
			continue;
		*tree = reading;
		since = time(NULL);
	}
}

static void print_tree(const struct tree *tree)
{
	int i;

	for (i = 0; i < tree->nr; i++)
		puts(tree->lines[i]);
}

static int show(int vcpus, bool now)
{
	static struct tree tree;
	int vm = new_vm(), i;

	for (i = 0; i < vcpus; i++)
		new_vcpu(vm, i);
	if (now)
		tree = *read_tree(vm);
	else
		settled_tree(vm, &tree);
	print_tree(&tree);
	return 0;
}

static bool becomes(int vm, const struct tree *want)
{
	time_t end = time(NULL) + PATIENCE;

	while (!same_tree(want, read_tree(vm))) {
		if (time(NULL) >= end)
			return false;
		usleep(20000);
	}
	return true;
}

/* vCPUs before, while and after the rest is created: the tree is the same in the end. */
static int late(int vms)
{
	static struct tree want;
	unsigned int seed = 1;
	int i, vcpu, vm, vcpus[3], wrong = 0;

	set_mode("full");
	vm = new_vm();
	for (vcpu = 0; vcpu < 3; vcpu++)
		vcpus[vcpu] = new_vcpu(vm, vcpu);
	want = *read_tree(vm);
	for (vcpu = 0; vcpu < 3; vcpu++)
		close(vcpus[vcpu]);
	close(vm);

	set_mode("lazy");
	for (i = 0; i < vms; i++) {
		vm = new_vm();
		for (vcpu = 0; vcpu < 3; vcpu++) {
			usleep(rand_r(&seed) % MOMENT_US);
			vcpus[vcpu] = new_vcpu(vm, vcpu);
		}
		if (!becomes(vm, &want) && !wrong++) {
			printf("the tree of VM %d has %d files, and not %d:\n", i, reading.nr, want.nr);
			print_tree(&reading);
		}
		for (vcpu = 0; vcpu < 3; vcpu++)
			close(vcpus[vcpu]);
		close(vm);
	}
	printf("%d trees of %d files, %d wrong\n", vms, want.nr, wrong);
	return !!wrong;
}

/* Another process may read the files meanwhile, which then hold the VM. */
static void read_some(int vm, unsigned int *seed)
{
	char path[96];
	int fd;

	path_of(vm, path);
	strcat(path, rand_r(seed) % 2 ? "/exits" : "/vcpu0/pid");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && read(fd, path, sizeof(path)) < 0)
		perror(path);
	close(fd);
}

static void make_and_kill(int vms, unsigned int seed)
{
	int vm, vcpu, wait_us;

	while (vms--) {
		wait_us = rand_r(&seed) % MOMENT_US;
		vm = new_vm();
		vcpu = new_vcpu(vm, 0);
		usleep(wait_us);
		if (rand_r(&seed) % 4 == 0)
			read_some(vm, &seed);
		close(vcpu);
		close(vm);
	}
	_exit(0);
}

static int die_at_random(int vms)
{
	int i, status, wrong = 0;

	for (i = 0; i < NR_MAKERS; i++)
		if (!fork())
			make_and_kill((vms + i) / NR_MAKERS, i + 1);
	while (wait(&status) > 0)
		wrong += status != 0;
	if (wrong)
		printf("%d processes did not end well\n", wrong);
	return !!wrong;
}

static int expect(bool is, const char *what)
{
	if (!is)
		printf("not so: %s\n", what);
	return !is;
}

static int add_and_see(const char *created, const char *now, bool dir)
{
	static struct tree tree;
	struct stat st;
	char path[96];
	int wrong = 0, vm, vcpu;

	set_mode(created);
	vm = new_vm();
	set_mode(now);
	vcpu = new_vcpu(vm, 7);
	path_of(vm, path);
	strcat(path, "/vcpu7/pid");
	wrong += expect(has_dir(vm) == dir, dir ? "it has a directory" : "it has no directory");
	wrong += expect(!access(path, F_OK) == dir, "its vCPU as well");
	wrong += expect(stat(TOP "/vcpu7", &st) && stat("/sys/kernel/debug/vcpu7", &st),
			"no vCPU's directory elsewhere");
	if (dir) {
		settled_tree(vm, &tree);
		wrong += expect(tree.nr > 40, "it has its statistics in the end");
	}
	if (wrong)
		printf("(of a VM created with %s, after a change to %s)\n", created, now);
	close(vcpu);
	close(vm);
	return wrong;
}

/* Two VMs of one process, one after the other at the same file descriptor: the first keeps the name. */
static int name_taken(const char *mode)
{
	static struct tree first, second;
	int vm, other, vcpu, moved, wrong = 0;

	set_mode(mode);
	vm = new_vm();
	settled_tree(vm, &first);
	moved = dup(vm);
	close(vm);
	other = new_vm();
	wrong += expect(other == vm, "the file descriptor is used again");
	vcpu = new_vcpu(other, 3);
	settled_tree(other, &second);
	wrong += expect(same_tree(&first, &second), "the second one has added nothing");
	close(vcpu);
	close(other);
	wrong += expect(has_dir(vm), "the end of the second leaves the first its directory");
	close(moved);
	wrong += expect(!has_dir(vm), "the end of the first does not");
	if (wrong)
		printf("(of two VMs with one name, with %s)\n", mode);
	return wrong;
}

static int life(void)
{
	int wrong = 0;

	wrong += add_and_see("off", "full", false);
	wrong += add_and_see("off", "lazy", false);
	wrong += add_and_see("lazy", "off", true);
	wrong += add_and_see("full", "off", true);
	wrong += name_taken("full");
	wrong += name_taken("lazy");
	set_mode("full");
	return !!wrong;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	int nr = argc > 2 ? atoi(argv[2]) : 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!strcmp(what, "now") || !strcmp(what, "tree"))
		return show(nr, what[0] == 'n');
	if (!strcmp(what, "late"))
		return late(nr);
	if (!strcmp(what, "die"))
		return die_at_random(nr);
	if (!strcmp(what, "life"))
		return life();
	fprintf(stderr, "usage: test-vmfiles now|tree|late|die|life [NUMBER]\n");
	return 2;
}
