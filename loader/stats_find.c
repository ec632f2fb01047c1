// SPDX-License-Identifier: GPL-2.0
/*
 * Which processes have VMs, and which files of KVM's: what /proc says. A file
 * that was duplicated, or inherited by a child, counts once.
 */
#include <dirent.h>
#include <errno.h>
#include <linux/kcmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "stats.h"

static const struct {
	const char		*link;
	enum vm_file_kind	kind;
} links[] = {
	{ "anon_inode:kvm-vm",		VM_FILE },
	{ "anon_inode:kvm-vcpu:",	VM_FILE_VCPU },
	{ "anon_inode:kvm-vm-stats",	VM_FILE_STATS },
	{ "anon_inode:kvm-vcpu-stats:",	VM_FILE_VCPU_STATS },
};

struct files {
	struct vm_file	*file;
	size_t		n;
	size_t		room;
};

static int add_file(struct files *files, const struct vm_file *file)
{
	struct vm_file *grown;

	if (files->n == files->room) {
		files->room = files->room ? 2 * files->room : 64;
		grown = reallocarray(files->file, files->room, sizeof(*grown));
		if (!grown)
			return fail(REFUSED, "out of memory");
		files->file = grown;
	}
	files->file[files->n++] = *file;

	return DONE;
}

/* False if it is another file. */
static bool read_link(const char *link, struct vm_file *file)
{
	size_t i, len;

	for (i = 0; i < ARRAY_SIZE(links); i++) {
		len = strlen(links[i].link);
		if (strncmp(link, links[i].link, len))
			continue;
		file->kind = links[i].kind;
		file->vcpu = -1;
		if (links[i].link[len - 1] == ':')
			return sscanf(link + len, "%d", &file->vcpu) == 1;
		if (!link[len])
			return true;
	}

	return false;
}

/* A process may use the id of an earlier one: it is the same if it began at the same time. */
static __u64 began(int pid)
{
	char path[64], text[1024], *c;
	unsigned long long ticks = 0;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	/* Its name may have anything in it, parentheses too. */
	c = strrchr(text, ')');
	if (c)
		sscanf(c + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
		       &ticks);

	return ticks;
}

/* The files of one process. Returns an errno: of a process that is gone, or not ours to see. */
static int scan_process(struct files *files, int pid, int *status)
{
	struct vm_file file = { .pid = pid };
	char path[64], link[64];
	struct dirent *entry;
	ssize_t len;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	if (!dir)
		return errno;
	errno = 0;
	while (!*status && (entry = readdir(dir))) {
		len = readlinkat(dirfd(dir), entry->d_name, link,
				 sizeof(link) - 1);
		if (len <= 0)
			continue;
		link[len] = '\0';
		if (!read_link(link, &file))
			continue;
		file.fd = atoi(entry->d_name);
		if (!file.began)
			file.began = began(pid);
		*status = add_file(files, &file);
	}
	closedir(dir);

	return 0;
}

/* Some order of the kernel's in which equal files are equal. */
static int by_file(const void *left, const void *right)
{
	const struct vm_file *a = left, *b = right;
	long order;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->vcpu != b->vcpu)
		return a->vcpu < b->vcpu ? -1 : 1;
	order = syscall(SYS_kcmp, a->pid, b->pid, KCMP_FILE,
			(unsigned long)a->fd, (unsigned long)b->fd);
	if (order == 1 || order == 2)
		return order == 1 ? -1 : 1;
	if (!order)
		return 0;
	/* One is gone, or no kcmp(2) here. */
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;

	return (a->fd > b->fd) - (a->fd < b->fd);
}

/* The maker of a VM is older than its children. */
static int by_owner(const void *left, const void *right)
{
	const struct vm_file *a = left, *b = right;

	if (a->began != b->began)
		return a->began < b->began ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->vcpu != b->vcpu)
		return a->vcpu < b->vcpu ? -1 : 1;

	return (a->fd > b->fd) - (a->fd < b->fd);
}

static void keep_one_of_each(struct files *files)
{
	struct vm_file *f = files->file;
	size_t i, n = 0;

	if (!files->n)
		return;
	qsort(f, files->n, sizeof(*f), by_file);
	for (i = 1; i < files->n; i++) {
		if (by_file(&f[n], &f[i]))
			f[++n] = f[i];
		else if (by_owner(&f[i], &f[n]) < 0)
			f[n] = f[i];
	}
	files->n = n + 1;
	qsort(f, files->n, sizeof(*f), by_owner);
}

/* QEMU's -name NAME or -name guest=NAME,...; other VMMs' options are theirs. */
static bool name_option(char *arg, char *name, size_t len)
{
	char *end;

	if (!strncmp(arg, "guest=", 6))
		arg += 6;
	else if ((end = strstr(arg, ",guest=")))
		arg = end + 7;
	end = strchr(arg, ',');
	if (end)
		*end = '\0';
	snprintf(name, len, "%s", arg);

	return name[0];
}

static bool name_of_cmdline(int pid, char *name, size_t len)
{
	char path[64], text[8192], *arg;
	bool next = false;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	for (arg = text; arg < text + n; arg += strlen(arg) + 1) {
		if (next)
			return name_option(arg, name, len);
		next = !strcmp(arg, "-name") || !strcmp(arg, "--name");
	}

	return false;
}

static void read_name(int pid, char *name, size_t len)
{
	char path[64];
	FILE *f;

	name[0] = '\0';
	if (!name_of_cmdline(pid, name, len)) {
		snprintf(path, sizeof(path), "/proc/%d/comm", pid);
		f = fopen(path, "re");
		if (f) {
			if (fgets(name, len, f))
				name[strcspn(name, "\n")] = '\0';
			fclose(f);
		}
	}
	plain_text(name);
}

/* The files of one process, @n of them from @file. */
static int make_vmm(struct vmm *vmm, const struct vm_file *file, size_t n)
{
	size_t i;

	memset(vmm, 0, sizeof(*vmm));
	vmm->pid = file->pid;
	vmm->file = calloc(n, sizeof(*file));
	if (!vmm->file)
		return fail(REFUSED, "out of memory");
	memcpy(vmm->file, file, n * sizeof(*file));
	vmm->n = n;
	for (i = 0; i < n; i++) {
		vmm->nr_vms += file[i].kind == VM_FILE;
		vmm->nr_vcpus += file[i].kind == VM_FILE_VCPU;
	}
	read_name(vmm->pid, vmm->name, sizeof(vmm->name));

	return DONE;
}

static int add_vmms(struct vmms *all, const struct files *files)
{
	size_t i, n;
	int status = DONE;

	all->vmm = calloc(files->n + 1, sizeof(*all->vmm));
	if (!all->vmm)
		return fail(REFUSED, "out of memory");
	for (i = 0; !status && i < files->n; i += n) {
		for (n = 1; i + n < files->n &&
		     files->file[i + n].pid == files->file[i].pid; n++)
			;
		status = make_vmm(&all->vmm[all->n], &files->file[i], n);
		/* vCPUs alone: a VM whose own file was closed, and whose vCPUs run. */
		if (!status)
			all->n++;
	}

	return status;
}

/**
 * vmms_find - find the processes that have VMs
 * @all: receives them, the oldest first; release with vmms_free()
 *
 * Return: an exit status
 */
int vmms_find(struct vmms *all)
{
	struct files files = { };
	struct dirent *entry;
	int status = DONE, pid, err;
	DIR *dir;

	memset(all, 0, sizeof(*all));
	dir = opendir("/proc");
	if (!dir)
		return fail(REFUSED, "/proc cannot be read: %s",
			    strerror_plain(errno));
	while (!status && (entry = readdir(dir))) {
		pid = atoi(entry->d_name);
		if (pid <= 0)
			continue;
		err = scan_process(&files, pid, &status);
		all->unseen += err == EACCES || err == EPERM;
	}
	closedir(dir);
	if (!status) {
		keep_one_of_each(&files);
		status = add_vmms(all, &files);
	}
	free(files.file);

	return status;
}

/* A thread stands for its process. */
static int process_of(int task)
{
	char path[64], line[128];
	int tgid = task;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", task);
	f = fopen(path, "re");
	if (!f)
		return task;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "Tgid: %d", &tgid) == 1)
			break;
	}
	fclose(f);

	return tgid;
}

static int cannot_look(int pid, int err)
{
	if (err == ENOENT || err == ESRCH || (kill(pid, 0) && errno == ESRCH)) {
		hint("kvmyield stats lists the processes that have VMs");
		return fail(USAGE, "there is no process %d", pid);
	}
	if (err == EACCES || err == EPERM) {
		hint("run it as root, or as the user of the VM");
		return fail(REFUSED, "this user may not look into the process %d",
			    pid);
	}

	return fail(REFUSED, "the files of the process %d cannot be listed: %s",
		    pid, strerror_plain(err));
}

/**
 * vmm_find - find the VMs of a process
 * @vmm: receives what there is; release with vmm_free()
 * @pid: the process, or one of its threads
 *
 * Return: an exit status
 */
int vmm_find(struct vmm *vmm, int pid)
{
	struct files files = { };
	int status = DONE, err;

	memset(vmm, 0, sizeof(*vmm));
	pid = process_of(pid);
	err = scan_process(&files, pid, &status);
	if (err)
		return cannot_look(pid, err);
	if (!status && !files.n) {
		hint("kvmyield stats lists the processes that have VMs");
		status = fail(USAGE, "the process %d has no VM", pid);
	}
	if (!status) {
		keep_one_of_each(&files);
		status = make_vmm(vmm, files.file, files.n);
	}
	free(files.file);

	return status;
}

void vmm_free(struct vmm *vmm)
{
	vmm_forget(vmm);
	free(vmm->file);
	memset(vmm, 0, sizeof(*vmm));
}

void vmms_free(struct vmms *all)
{
	size_t i;

	for (i = 0; i < all->n; i++)
		vmm_free(&all->vmm[i]);
	free(all->vmm);
	memset(all, 0, sizeof(*all));
}
