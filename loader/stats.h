/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of 'kvmyield stats' share. */
#ifndef STATS_H
#define STATS_H

#include <stdint.h>
#include <stdio.h>
#include <linux/types.h>

#include "kvmyield.h"

/* Types, units and bases as in the flags of a descriptor (KVM_GET_STATS_FD). */
enum kstat_type {
	KSTAT_CUMULATIVE,
	KSTAT_INSTANT,
	KSTAT_PEAK,
	KSTAT_LINEAR_HIST,
	KSTAT_LOG_HIST,
};

enum kstat_unit {
	KSTAT_NONE,
	KSTAT_BYTES,
	KSTAT_SECONDS,
	KSTAT_CYCLES,
	KSTAT_BOOLEAN,
};

enum kstat_base {
	KSTAT_POW10,
	KSTAT_POW2,
};

/**
 * struct kstat - a statistic, as the kernel describes it
 * @name: its name, made safe to show
 * @type: enum kstat_type, or a number that is not known here
 * @unit: enum kstat_unit, or a number that is not known here
 * @base: enum kstat_base, or a number that is not known here
 * @exponent: the unit is @base to the power of this
 * @size: how many values there are
 * @bucket_size: of a linear histogram
 * @value: the values
 */
struct kstat {
	const char	*name;
	unsigned int	type;
	unsigned int	unit;
	unsigned int	base;
	int		exponent;
	unsigned int	size;
	__u32		bucket_size;
	__u64		*value;
};

/**
 * struct kstats - all statistics of a VM, or of a vCPU
 * @id: what the kernel calls it
 * @n: how many
 * @stat: the statistics, in the kernel's order
 * @names: memory of their names
 * @values: memory of their values
 */
struct kstats {
	char		*id;
	size_t		n;
	struct kstat	*stat;
	char		*names;
	__u64		*values;
};

/* stats_read.c */
int kstats_read(struct kstats *s, int fd);
void kstats_free(struct kstats *s);
const struct kstat *kstats_find(const struct kstats *s, const char *name,
				size_t near);
bool kstat_is_hist(const struct kstat *k);
bool kstat_same_kind(const struct kstat *a, const struct kstat *b);

enum vm_file_kind {
	VM_FILE,
	VM_FILE_VCPU,
	VM_FILE_STATS,
	VM_FILE_VCPU_STATS,
};

/**
 * struct vm_file - a file of KVM's that a process has open
 * @pid: the process
 * @fd: the descriptor there
 * @vcpu: id of the vCPU; -1 if it is none's
 * @kind: what it is
 * @began: when the process began, in clock ticks since boot
 */
struct vm_file {
	int			pid;
	int			fd;
	int			vcpu;
	enum vm_file_kind	kind;
	__u64			began;
};

/**
 * struct vmm - a process that has VMs
 * @pid: its id
 * @name: what its VM is called: -name of its command line, or else its own name
 * @nr_vms: VMs
 * @nr_vcpus: their vCPUs
 * @file: its files, each once
 * @n: how many
 * @vm: the VMs' statistics, @nr_vms of them, when they were read
 * @vcpu: the vCPUs', @nr_vcpus of them
 * @vcpu_id: the vCPUs' ids
 * @time: when that was, in seconds of CLOCK_MONOTONIC
 */
struct vmm {
	int		pid;
	char		name[128];
	size_t		nr_vms;
	size_t		nr_vcpus;
	struct vm_file	*file;
	size_t		n;
	struct kstats	*vm;
	struct kstats	*vcpu;
	int		*vcpu_id;
	double		time;
};

struct vmms {
	struct vmm	*vmm;
	size_t		n;
	size_t		unseen;
};

/* stats_find.c */
int vmms_find(struct vmms *all);
int vmm_find(struct vmm *vmm, int pid);
void vmms_free(struct vmms *all);
void vmm_free(struct vmm *vmm);

/* stats_take.c: the statistics, into what was found. */
int vmm_take(struct vmm *vmm);
void vmm_forget(struct vmm *vmm);

/* stats_show.c; before: the same a while ago, or NULL. */
void vmms_show(const struct vmms *all, const char *policy);
void vmm_show(const struct vmm *vmm, const char *policy,
	      const struct vmm *before);

/* stats_unit.c */
const char *kstat_unit_text(const struct kstat *k, char *text, size_t len);
const char *kstat_type_text(const struct kstat *k);
__u64 kstat_bucket_end(const struct kstat *k, unsigned int bucket, bool *open);

/* stats_json.c */
int vmms_json(const struct vmms *all, const char *policy, json_t *out);
int vmm_json(const struct vmm *vmm, const char *policy,
	     const struct vmm *before, json_t *out);

/* stats_prom.c */
int vmms_prom(const struct vmms *all, const char *policy, bool openmetrics,
	      FILE *to);

/* outfile.c */
int write_file(const char *path, const char *text, size_t len);

#endif /* STATS_H */
