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

#pragma clang attribute pop

extern int bpf_kvm_yield_status(struct kvm_yield_status *status,
				__u32 status__sz) __ksym __weak;

/* Larger than the kernel's struct will ever be; the kernel fills what it has. */
char kernel_status[1024];
struct kvmyield_status status;

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

SEC("syscall")
int read_status(void *ctx)
{
	struct kvm_yield_status *k = (void *)kernel_status;

	status.ret = -ENOSYS;
	if (!bpf_ksym_exists(bpf_kvm_yield_status) ||
	    !bpf_core_type_exists(struct kvm_yield_status))
		return 0;

	status.ret = bpf_kvm_yield_status(k, sizeof(kernel_status));
	if (status.ret < 0)
		return 0;

	copy(status.id, k->id);
	copy(status.age_ns, k->age_ns);
	copy(status.link_id, k->link_id);
	copy(status.facts, k->facts);
	copy(status.budget, k->budget);
	copy(status.max_streak, k->max_streak);
	copy(status.spins, k->counters.spins);
	copy(status.candidates, k->counters.candidates);
	copy(status.tries, k->counters.tries);
	copy(status.yields, k->counters.yields);
	copy(status.refused, k->counters.refused);
	copy(status.overruled, k->counters.overruled);
	copy(status.bounded, k->counters.bounded);
	copy(status.exit_id, k->exit_id);
	copy(status.exit_link_id, k->exit_link_id);
	copy(status.exit_reason, k->exit_reason);
	copy(status.exit_refusals, k->exit_refusals);
	copy_name(status.name, k->name);
	copy_name(status.exit_name, k->exit_name);

	return 0;
}

char LICENSE[] SEC("license") = "GPL";
