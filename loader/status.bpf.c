// SPDX-License-Identifier: GPL-2.0
/*
 * Asks the kernel's hook for its state, and hands it to user space in a layout
 * of our own. The kernel's structs are declared here with what is read of them;
 * their real layout comes from the BTF of the running kvm module (CO-RE).
 */
#include <linux/types.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#include "kvmyield_status.h"

#define ENOSYS	38

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct kvm_yield_counters {
	__u64	spins;
	__u64	candidates;
	__u64	tries;
	__u64	yields;
	__u64	refused;
	__u64	overruled;
	__u64	bounded;
	__u64	seen[KVMYIELD_MAX_FACTS];
	__u64	chosen[KVMYIELD_MAX_FACTS];
};

struct kvm_yield_status {
	__u64				id;
	__u64				age_ns;
	__u32				link_id;
	__u32				facts;
	__u32				budget;
	__u32				max_streak;
	char				name[KVMYIELD_NAME_LEN];
	struct kvm_yield_counters	counters;
	__u64				exit_id;
	__u32				exit_link_id;
	__u32				exit_reason;
	__u32				exit_refusals;
	char				exit_name[KVMYIELD_NAME_LEN];
};

struct kvm_yield_vm_status {
	__s32				pid;
	__u32				nr_vcpus;
	__u32				nr_hinted;
	__u32				flags;
	struct kvm_yield_counters	counters;
};

#pragma clang attribute pop

extern int bpf_kvm_yield_status(struct kvm_yield_status *status,
				__u32 status__sz) __ksym __weak;
extern int bpf_kvm_yield_vms(struct kvm_yield_vm_status *vms, __u32 vms__sz,
			     __u32 skip) __ksym __weak;

/* Larger than the kernel's struct will ever be; the kernel fills what it has. */
char kernel_status[4096];
struct kvmyield_status status;
struct kvmyield_vms vms_read;

/*
 * What the kernel tells of the VMs, in the kernel's layout. All of them are read
 * by one call, which finds each VM once; user space sets the size.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, 8);
} vms SEC(".maps");
const volatile __u32 vms_room = 8;

/* A field that the kernel does not have (yet, or any more) reads as 0. */
#define copy(dst, src) \
	do { \
		if (bpf_core_field_exists(src)) \
			(dst) = (src); \
	} while (0)

#define copy_name(dst, src) \
	do { \
		if (bpf_core_field_exists(src) && \
		    bpf_core_field_size(src) >= KVMYIELD_NAME_LEN) \
			__builtin_memcpy(dst, &(src), KVMYIELD_NAME_LEN); \
	} while (0)

/* An array may have another length there. */
#define copy_facts(dst, src) \
	do { \
		const __u64 *from = (const void *)&(src); \
		unsigned int i; \
		\
		if (!bpf_core_field_exists(src)) \
			break; \
		for (i = 0; i < KVMYIELD_MAX_FACTS; i++) { \
			if (i < bpf_core_field_size(src) / sizeof(__u64)) \
				(dst)[i] = from[i]; \
		} \
	} while (0)

static void copy_status(const struct kvm_yield_status *k)
{
	copy(status.id, k->id);
	copy(status.age_ns, k->age_ns);
	copy(status.link_id, k->link_id);
	copy(status.facts, k->facts);
	copy(status.budget, k->budget);
	copy(status.max_streak, k->max_streak);
	copy(status.exit_id, k->exit_id);
	copy(status.exit_link_id, k->exit_link_id);
	copy(status.exit_reason, k->exit_reason);
	copy(status.exit_refusals, k->exit_refusals);
	copy_name(status.name, k->name);
	copy_name(status.exit_name, k->exit_name);
}

static void copy_counters(const struct kvm_yield_status *k)
{
	copy(status.counters.spins, k->counters.spins);
	copy(status.counters.candidates, k->counters.candidates);
	copy(status.counters.tries, k->counters.tries);
	copy(status.counters.yields, k->counters.yields);
	copy(status.counters.refused, k->counters.refused);
	copy(status.counters.overruled, k->counters.overruled);
	copy(status.counters.bounded, k->counters.bounded);
	status.counts_facts = bpf_core_field_exists(k->counters.seen) &&
			      bpf_core_field_exists(k->counters.chosen);
	copy_facts(status.counters.seen, k->counters.seen);
	copy_facts(status.counters.chosen, k->counters.chosen);
}

static void ask_status(void)
{
	struct kvm_yield_status *k = (void *)kernel_status;

	status.ret = -ENOSYS;
	if (!bpf_ksym_exists(bpf_kvm_yield_status) ||
	    !bpf_core_type_exists(struct kvm_yield_status))
		return;

	status.ret = bpf_kvm_yield_status(k, sizeof(kernel_status));
	if (status.ret < 0)
		return;

	copy_status(k);
	copy_counters(k);
}

SEC("syscall")
int read_status(void *ctx)
{
	ask_status();

	return 0;
}

#define find(dst, src) \
	do { \
		if (bpf_core_field_exists(src)) { \
			(dst).offset = bpf_core_field_offset(src); \
			(dst).size = bpf_core_field_size(src); \
		} \
	} while (0)

static void find_fields(void)
{
	struct kvm_yield_vm_status *k = NULL;

	vms_read.size = bpf_core_type_size(struct kvm_yield_vm_status);
	find(vms_read.pid, k->pid);
	find(vms_read.nr_vcpus, k->nr_vcpus);
	find(vms_read.nr_hinted, k->nr_hinted);
	find(vms_read.flags, k->flags);
	find(vms_read.spins, k->counters.spins);
	find(vms_read.candidates, k->counters.candidates);
	find(vms_read.tries, k->counters.tries);
	find(vms_read.yields, k->counters.yields);
	find(vms_read.refused, k->counters.refused);
	find(vms_read.overruled, k->counters.overruled);
	find(vms_read.bounded, k->counters.bounded);
	find(vms_read.seen, k->counters.seen);
	find(vms_read.chosen, k->counters.chosen);
}

static void ask_vms(void)
{
	__u32 key = 0;
	void *room;

	vms_read.ret = -ENOSYS;
	if (!bpf_ksym_exists(bpf_kvm_yield_vms) ||
	    !bpf_core_type_exists(struct kvm_yield_vm_status))
		return;

	find_fields();
	room = bpf_map_lookup_elem(&vms, &key);
	if (room)
		vms_read.ret = bpf_kvm_yield_vms(room, vms_room, 0);
}

/* The sum after its parts, so that it is no less than they are. */
SEC("syscall")
int read_vms(void *ctx)
{
	ask_status();
	vms_read.id = status.id;
	ask_vms();
	ask_status();

	return 0;
}

char LICENSE[] SEC("license") = "GPL";
