// SPDX-License-Identifier: GPL-2.0
/* Which VMs there are: what KVM tells of each, and what the processes' names are. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

/* The VMs that a hint names, when a process is not one of them. */
#define VMS_NAMED	8

/* A member of the kernel's struct; 0 if this kernel does not have it. */
static __u64 number(const char *entry, struct kvmyield_field field)
{
	__u32 small;
	__u64 large;

	if (field.size == sizeof(small)) {
		memcpy(&small, entry + field.offset, sizeof(small));
		return small;
	}
	if (field.size != sizeof(large))
		return 0;
	memcpy(&large, entry + field.offset, sizeof(large));

	return large;
}

static void numbers(__u64 *to, const char *entry, struct kvmyield_field field)
{
	size_t size = KVMYIELD_MAX_FACTS * sizeof(*to);

	memcpy(to, entry + field.offset, field.size < size ? field.size : size);
}

static void read_comm(int pid, char *comm, size_t len)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	f = fopen(path, "re");
	if (!f)
		return;
	if (fgets(comm, len, f))
		comm[strcspn(comm, "\n")] = '\0';
	fclose(f);
	plain_text(comm);
}

/* KVM names the task that made the VM, which need not be its process's first. */
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

static void take(struct vm *vm, const struct kvmyield_vms *l, const char *entry)
{
	struct kvmyield_counters *c = &vm->counters;

	memset(vm, 0, sizeof(*vm));
	vm->pid = process_of(number(entry, l->pid));
	read_comm(vm->pid, vm->comm, sizeof(vm->comm));
	vm->nr_vcpus = number(entry, l->nr_vcpus);
	vm->nr_hinted = number(entry, l->nr_hinted);
	vm->flags = number(entry, l->flags);
	c->spins = number(entry, l->spins);
	c->candidates = number(entry, l->candidates);
	c->tries = number(entry, l->tries);
	c->yields = number(entry, l->yields);
	c->refused = number(entry, l->refused);
	c->overruled = number(entry, l->overruled);
	c->bounded = number(entry, l->bounded);
	numbers(c->seen, entry, l->seen);
	numbers(c->chosen, entry, l->chosen);
}

static int by_spins(const void *left, const void *right)
{
	const struct vm *a = left, *b = right;

	if (a->counters.spins != b->counters.spins)
		return a->counters.spins < b->counters.spins ? 1 : -1;

	return (a->pid > b->pid) - (a->pid < b->pid);
}

/**
 * vms_take - take what the kernel told of the VMs
 * @vms: receives them
 * @layout: where it has what
 * @image: what it told: @n entries of @layout->size bytes
 * @n: how many VMs
 *
 * Return: an exit status
 */
int vms_take(struct vms *vms, const struct kvmyield_vms *layout,
	     const void *image, size_t n)
{
	size_t i;

	vms->known = true;
	vms->vm = calloc(n + 1, sizeof(*vms->vm));
	if (!vms->vm)
		return fail(REFUSED, "out of memory");

	for (i = 0; i < n; i++) {
		take(&vms->vm[vms->n], layout,
		     (const char *)image + i * layout->size);
		/* KVM notes the process last of all when a VM is made. */
		if (vms->vm[vms->n].pid > 0)
			vms->n++;
	}
	qsort(vms->vm, vms->n, sizeof(*vms->vm), by_spins);

	return DONE;
}

void vms_free(struct vms *vms)
{
	free(vms->vm);
	memset(vms, 0, sizeof(*vms));
}

static void hint_vms(const struct vms *vms)
{
	char text[256] = "";
	size_t i, used = 0;

	for (i = 0; i < vms->n && i < VMS_NAMED; i++)
		used += snprintf(text + used, sizeof(text) - used, "%s%d (%.15s)",
				 i ? ", " : "", vms->vm[i].pid,
				 vms->vm[i].comm);
	if (!vms->n)
		hint("there is no VM on this host");
	else if (vms->n > VMS_NAMED)
		hint("VMs there are: %s and %zu more (kvmyield -j status)",
		     text, vms->n - VMS_NAMED);
	else
		hint("VMs there are: %s", text);
}

static int no_vm(const struct vms *vms, int pid)
{
	hint_vms(vms);
	if (kill(pid, 0) && errno == ESRCH)
		return fail(USAGE, "there is no process %d", pid);

	return fail(USAGE, "the process %d has no VM", pid);
}

/**
 * vms_only - leave no VMs but those of one process
 * @vms: the VMs
 * @pid: the process id, as vm_pid() accepts it
 *
 * Return: an exit status
 */
int vms_only(struct vms *vms, int pid)
{
	size_t i, n = 0;

	if (!vms->known)
		return fail(UNSUPPORTED, "this kernel's KVM does not tell of single VMs");

	for (i = 0; i < vms->n; i++) {
		if (vms->vm[i].pid == pid)
			vms->vm[n++] = vms->vm[i];
	}
	if (!n)
		return no_vm(vms, pid);
	vms->n = n;

	return DONE;
}

json_t *vm_json(const struct vm *vm)
{
	return json_pack("{s:i,s:o,s:I,s:I,s:b,s:b,s:b}",
		"pid", vm->pid,
		"comm", vm->comm[0] ? json_text(vm->comm) : json_null(),
		"nr_vcpus", (json_int_t)vm->nr_vcpus,
		"nr_hinted", (json_int_t)vm->nr_hinted,
		"encrypted", !!(vm->flags & VM_ENCRYPTED),
		"user_apic", !!(vm->flags & VM_USER_APIC),
		"apicv", !!(vm->flags & VM_APICV));
}
