// SPDX-License-Identifier: GPL-2.0
/* Find out what this machine offers, and say what is missing. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <linux/capability.h>
#include <linux/magic.h>

#include "host.h"

#define BTF_DIR		"/sys/kernel/btf/"
#define BTF_SIZE_MAX	(64 << 20)

/* The type by which the kernel's BPF finds the hook: a string in the BTF. */
static const char hook_type[] = "\0bpf_struct_ops_kvm_yield_ops";

/*
 * Is the name among the strings of this BTF? That is a search, where parsing
 * 100,000 types would be work that libbpf does again when a policy is loaded.
 */
static bool btf_has_hook(const char *path)
{
	size_t used = 0;
	bool found = false;
	struct stat st;
	char *data;
	ssize_t n;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (fstat(fd, &st) || st.st_size <= 0 || st.st_size > BTF_SIZE_MAX)
		goto out;
	data = malloc(st.st_size);
	if (!data)
		goto out;

	while (used < (size_t)st.st_size) {
		n = read(fd, data + used, st.st_size - used);
		if (n <= 0)
			break;
		used += n;
	}
	found = memmem(data, used, hook_type, sizeof(hook_type));
	free(data);
out:
	close(fd);

	return found;
}

/*
 * CAP_BPF and CAP_PERFMON would do for the programs, but the hook's type is that
 * of a module, and modules' BTF is handed out to CAP_SYS_ADMIN only.
 */
static bool may_load(void)
{
	unsigned long long caps = 0;
	char line[128];
	FILE *f;

	f = fopen("/proc/self/status", "re");
	if (!f)
		return !geteuid();
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "CapEff: %llx", &caps) == 1)
			break;
	}
	fclose(f);

	return caps & (1ULL << CAP_SYS_ADMIN);
}

static void find_vendor(struct host *host)
{
	static const char *const vendors[] = { "kvm_amd", "kvm_intel" };
	char path[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(vendors); i++) {
		snprintf(path, sizeof(path), "/sys/module/%s", vendors[i]);
		if (!access(path, F_OK)) {
			snprintf(host->vendor, sizeof(host->vendor), "%s",
				 vendors[i]);
			return;
		}
	}
}

void host_read(struct host *host)
{
	struct statfs fs;

	memset(host, 0, sizeof(*host));
	host->privileged = may_load();
	host->btf = !access(BTF_DIR "vmlinux", R_OK);
	host->kvm = !access("/sys/module/kvm", F_OK);
	host->hook = btf_has_hook(BTF_DIR "kvm");
	if (!host->hook && access(BTF_DIR "kvm", F_OK))
		host->hook = btf_has_hook(BTF_DIR "vmlinux");
	host->bpffs = !statfs(PIN_ROOT, &fs) && fs.f_type == BPF_FS_MAGIC;
	find_vendor(host);
}

static int no_hook(const struct host *host)
{
	hint("kvmyield features says what is missing");
	if (!host->btf)
		return fail(UNSUPPORTED, "this kernel does not describe its types (no /sys/kernel/btf/vmlinux)");
	if (!host->kvm)
		return fail(UNSUPPORTED, "KVM is not loaded: there is no module kvm");

	return fail(UNSUPPORTED, "this kernel's KVM has no hook for yield policies");
}

/**
 * host_require - see that this machine has what a verb needs
 * @need: what it needs
 *
 * Return: an exit status
 */
int host_require(enum host_need need)
{
	struct host host;

	host_read(&host);
	if (!host.hook)
		return no_hook(&host);
	if (!host.privileged) {
		hint("run it as root");
		return fail(REFUSED, "no permission: yield policies need CAP_SYS_ADMIN");
	}
	if (need >= NEED_VENDOR && !host.vendor[0]) {
		hint("modprobe kvm_amd, or kvm_intel");
		return fail(UNSUPPORTED, "neither kvm_amd nor kvm_intel is loaded: no VM could run");
	}
	if (need >= NEED_BPFFS && !host.bpffs) {
		hint("mount -t bpf bpf /sys/fs/bpf");
		return fail(UNSUPPORTED, "there is no BPF file system at /sys/fs/bpf to pin the policy in");
	}

	return DONE;
}
