/* SPDX-License-Identifier: GPL-2.0 */
/* A policy: a .bpf.o file with one kvm_yield_ops in it. */
#ifndef POLICY_H
#define POLICY_H

#include <limits.h>
#include <bpf/libbpf.h>

#include "kvmyield.h"
#include "kvmyield_status.h"

#define POLICY_FILE_NAME_LEN	64
#define POLICY_DESC_LEN		160

/* search.c: policies by name. */
struct policy_file {
	char	name[POLICY_FILE_NAME_LEN];
	char	path[PATH_MAX];
};

struct policy_files {
	struct policy_file	*file;
	size_t			n;
};

int policy_files_read(struct policy_files *files);
void policy_files_free(struct policy_files *files);
int policy_find(const char *word, struct policy_file *file);

/* object.c: the file itself, before libbpf sees it. */
int object_read(const char *path, void **image, size_t *size);
void object_desc(void *image, size_t size, char *desc, size_t len);

/**
 * struct policy - an opened policy
 * @word: what the user called it, for hints
 * @file: where it is, and by which name it is found
 * @desc: its line of description, or ""
 * @name: what it calls itself (kvm_yield_ops.name)
 * @vm_pid: kvm_yield_ops.vm_pid
 * @obj: libbpf's view of it
 * @map: the kvm_yield_ops
 * @image: the file's content
 * @size: the file's size
 */
struct policy {
	const char		*word;
	struct policy_file	file;
	char			desc[POLICY_DESC_LEN];
	char			name[KVMYIELD_NAME_LEN];
	int			vm_pid;
	struct bpf_object	*obj;
	struct bpf_map		*map;
	void			*image;
	size_t			size;
};

/* policy.c */
int policy_open(struct policy *p, const char *word);
int policy_open_file(struct policy *p);
int policy_load(struct policy *p);
void policy_close(struct policy *p);

/* params.c */
int params_set(struct policy *p, int argc, char **argv);
json_t *params_json(const struct policy *p);

/* verify.c: what libbpf and the verifier say. */
struct verdict {
	char	prog[64];
	char	reason[256];
	char	source[256];
};

void libbpf_listen(void);
const char *libbpf_first_warning(void);
bool verifier_verdict(struct verdict *v);

#endif /* POLICY_H */
