/* SPDX-License-Identifier: GPL-2.0 */
/* What this machine offers, and the state of its hook. */
#ifndef HOST_H
#define HOST_H

#include "kvmyield.h"
#include "kvmyield_status.h"

/**
 * struct host - what a policy needs of a machine
 * @privileged: we may load BPF programs of a module's type
 * @btf: the kernel describes its types
 * @kvm: KVM is loaded or built in
 * @hook: and it has the hook
 * @bpffs: there is a place for the pin
 * @vendor: "kvm_amd" or another loaded vendor module, or ""
 */
struct host {
	bool	privileged;
	bool	btf;
	bool	kvm;
	bool	hook;
	bool	bpffs;
	char	vendor[16];
};

/* What a verb needs; each includes the ones before. */
enum host_need {
	NEED_HOOK,
	NEED_VENDOR,
	NEED_BPFFS,
};

void host_read(struct host *host);
int host_require(enum host_need need);

/**
 * enum hook_state - how the hook and our pin stand to each other
 * @HOOK_NONE: nothing is attached, nothing is pinned
 * @HOOK_OURS: the pinned link is attached
 * @HOOK_FOREIGN: a link is attached that is not the pinned one
 * @HOOK_DETACHED: the pinned link has no policy any more
 * @HOOK_EJECTED: and that because KVM ejected it
 */
enum hook_state {
	HOOK_NONE,
	HOOK_OURS,
	HOOK_FOREIGN,
	HOOK_DETACHED,
	HOOK_EJECTED,
};

struct pin;

/* enum kvm_yield_vm_flag */
enum vm_flag {
	VM_ENCRYPTED	= 1 << 0,
	VM_USER_APIC	= 1 << 1,
	VM_APICV	= 1 << 2,
};

#define VM_COMM_LEN	32

/**
 * struct vm - what KVM tells of a VM
 * @pid: process id of its VMM
 * @nr_vcpus: how many vCPUs it has
 * @nr_hinted: how many of them share a hint word
 * @flags: bit set of enum vm_flag
 * @comm: the process's name; "" if it has ended meanwhile
 * @counters: what the attached policy has done to it
 */
struct vm {
	int				pid;
	__u32				nr_vcpus;
	__u32				nr_hinted;
	__u32				flags;
	char				comm[VM_COMM_LEN];
	struct kvmyield_counters	counters;
};

/**
 * struct vms - the VMs of this host
 * @vm: the VMs, the one with the most spins first
 * @n: how many
 * @known: the kernel tells of them
 * @complete: and these are all
 */
struct vms {
	struct vm	*vm;
	size_t		n;
	bool		known;
	bool		complete;
};

/* vms.c */
int vms_take(struct vms *vms, const struct kvmyield_vms *layout,
	     const void *image, size_t n);
void vms_free(struct vms *vms);
int vms_only(struct vms *vms, int pid);
json_t *vm_json(const struct vm *vm);

/* hook.c */
int hook_status(struct kvmyield_status *s);
int hook_vms(struct kvmyield_status *s, struct vms *vms);
enum hook_state hook_state(const struct kvmyield_status *s,
			   const struct pin *pin);
int fail_foreign(const struct kvmyield_status *s, int status);
const char *exit_reason_text(const struct kvmyield_status *s, char *text,
			     size_t len);

/* counters.c */
void say_counters(const struct kvmyield_counters *c);
void say_fact_counts(const struct kvmyield_counters *c, __u32 facts);
void say_vms(const struct vms *vms);
json_t *counters_json(const struct kvmyield_counters *c, bool facts);

/* facts.c: their names; facts.h has the rest. */
bool fact_known(unsigned int fact);
const char *fact_name(unsigned int fact, char *text, size_t len);
json_t *facts_json(__u32 facts);

/* pin.c */
#define PIN_ROOT	"/sys/fs/bpf"
#define PIN_DIR		PIN_ROOT "/kvmyield"
#define PIN_PATH	PIN_DIR "/host"

/**
 * struct pin - the place of the policy's link under bpffs
 * @lock: the directory, locked against other loaders; -1: there is none
 * @fd: the link; -1: nothing is pinned
 * @link_id: its id
 * @map_id: the id of its policy's map; 0: it was detached or ejected
 */
struct pin {
	int	lock;
	int	fd;
	__u32	link_id;
	__u32	map_id;
};

int pin_open(struct pin *pin, bool create);
int pin_peek(struct pin *pin);
int pin_link(struct pin *pin, int fd);
int pin_remove(struct pin *pin);
void pin_close(struct pin *pin);
int link_info(int fd, __u32 *link_id, __u32 *map_id);

#endif /* HOST_H */
