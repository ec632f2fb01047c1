// SPDX-License-Identifier: GPL-2.0
/*
 * The statistics of a process's VMs, by its own file descriptors: they are
 * taken over for a moment (pidfd_getfd), asked for a file of statistics, and
 * closed. Nothing is kept, or a VM would not go while we look at it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <time.h>
#include <unistd.h>

#include "stats.h"

/* The tree of tools has a <linux/kvm.h> that no program outside of it can include. */
#define KVM_GET_STATS_FD	_IO(0xAE, 0xce)

static int gone(int pid)
{
	return fail(USAGE, "the process %d has ended, or its VM has", pid);
}

static int open_process(const struct vmm *vmm)
{
	int fd = pidfd_open(vmm->pid, 0);

	if (fd >= 0)
		return fd;
	if (errno == ESRCH || errno == EINVAL)
		gone(vmm->pid);
	else if (errno == ENOSYS)
		fail(UNSUPPORTED, "this kernel has no pidfd_open(2)");
	else
		fail(REFUSED, "the process %d cannot be opened: %s", vmm->pid,
		     strerror_plain(errno));

	return -1;
}

static int take_over(const struct vmm *vmm, int pidfd, int remote)
{
	int fd = pidfd_getfd(pidfd, remote, 0);

	if (fd >= 0)
		return fd;
	if (errno == ESRCH || errno == EBADF) {
		gone(vmm->pid);
	} else if (errno == EPERM || errno == EACCES) {
		hint("run it as root, or as the user of the VM where ptrace is allowed (sysctl kernel.yama.ptrace_scope)");
		fail(REFUSED, "this user may not take over files of the process %d",
		     vmm->pid);
	} else {
		fail(REFUSED, "the files of the process %d cannot be taken over: %s",
		     vmm->pid, strerror_plain(errno));
	}

	return -1;
}

/* A file of statistics that the process itself has open, on a KVM that gives none to others. */
static int stats_file_of(const struct vmm *vmm, int pidfd,
			 const struct vm_file *file)
{
	enum vm_file_kind kind = file->kind == VM_FILE ? VM_FILE_STATS :
							 VM_FILE_VCPU_STATS;
	const struct vm_file *one = NULL;
	size_t i;

	for (i = 0; i < vmm->n; i++) {
		if (vmm->file[i].kind != kind || vmm->file[i].vcpu != file->vcpu)
			continue;
		/* Whose it is cannot be told. */
		if (one)
			return -1;
		one = &vmm->file[i];
	}
	if (!one || vmm->nr_vms > 1)
		return -1;

	return take_over(vmm, pidfd, one->fd);
}

static int stats_file(const struct vmm *vmm, int pidfd,
		      const struct vm_file *file)
{
	int fd = take_over(vmm, pidfd, file->fd), stats, err;

	if (fd < 0)
		return -1;
	stats = ioctl(fd, KVM_GET_STATS_FD, NULL);
	err = errno;
	close(fd);
	if (stats >= 0)
		return stats;

	if (err == EIO) {
		stats = stats_file_of(vmm, pidfd, file);
		if (stats >= 0 || error_text()[0])
			return stats;
		hint("load kvmyield's kvm.ko, or look into /sys/kernel/debug/kvm/%d-*",
		     vmm->pid);
		fail(UNSUPPORTED, "this host's KVM gives statistics only to the VM's own process");
	} else if (err == ENOTTY || err == EINVAL) {
		fail(UNSUPPORTED, "this host's KVM has no KVM_GET_STATS_FD");
	} else {
		fail(REFUSED, "the statistics of the process %d cannot be opened: %s",
		     vmm->pid, strerror_plain(err));
	}

	return -1;
}

static int take_file(const struct vmm *vmm, int pidfd,
		     const struct vm_file *file, struct kstats *s)
{
	int fd = stats_file(vmm, pidfd, file), status;

	memset(s, 0, sizeof(*s));
	if (fd < 0)
		return REFUSED;
	status = kstats_read(s, fd);
	close(fd);

	return status;
}

/* What was failed with is the status: the sentences above know better. */
static int take_all(struct vmm *vmm, int pidfd)
{
	size_t vms = 0, vcpus = 0, i;

	for (i = 0; i < vmm->n; i++) {
		const struct vm_file *f = &vmm->file[i];

		if (f->kind == VM_FILE) {
			if (take_file(vmm, pidfd, f, &vmm->vm[vms++]))
				return REFUSED;
		} else if (f->kind == VM_FILE_VCPU) {
			vmm->vcpu_id[vcpus] = f->vcpu;
			if (take_file(vmm, pidfd, f, &vmm->vcpu[vcpus++]))
				return REFUSED;
		}
	}

	return DONE;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/**
 * vmm_take - read the statistics of all VMs and vCPUs of a process
 * @vmm: what was found; receives them, and vmm_forget() or vmm_free() releases
 *
 * Return: an exit status
 */
int vmm_take(struct vmm *vmm)
{
	int status = REFUSED, pidfd;

	vmm_forget(vmm);
	vmm->vm = calloc(vmm->nr_vms + 1, sizeof(*vmm->vm));
	vmm->vcpu = calloc(vmm->nr_vcpus + 1, sizeof(*vmm->vcpu));
	vmm->vcpu_id = calloc(vmm->nr_vcpus + 1, sizeof(*vmm->vcpu_id));
	if (!vmm->vm || !vmm->vcpu || !vmm->vcpu_id)
		return fail(REFUSED, "out of memory");

	pidfd = open_process(vmm);
	if (pidfd >= 0) {
		status = take_all(vmm, pidfd);
		close(pidfd);
	}
	vmm->time = now();

	return status ? error_status() : DONE;
}

void vmm_forget(struct vmm *vmm)
{
	size_t i;

	for (i = 0; vmm->vm && i < vmm->nr_vms; i++)
		kstats_free(&vmm->vm[i]);
	for (i = 0; vmm->vcpu && i < vmm->nr_vcpus; i++)
		kstats_free(&vmm->vcpu[i]);
	free(vmm->vm);
	free(vmm->vcpu);
	free(vmm->vcpu_id);
	vmm->vm = NULL;
	vmm->vcpu = NULL;
	vmm->vcpu_id = NULL;
}
