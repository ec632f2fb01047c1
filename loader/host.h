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

/* hook.c */
int hook_status(struct kvmyield_status *s);
enum hook_state hook_state(const struct kvmyield_status *s,
			   const struct pin *pin);
int fail_foreign(const struct kvmyield_status *s, int status);
const char *exit_reason_text(const struct kvmyield_status *s, char *text,
			     size_t len);
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
