// SPDX-License-Identifier: GPL-2.0
/* Open an object, see that it is one policy, and load it into the kernel. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/bpf.h>
#include <bpf/btf.h>

#include "policy.h"

#define OPS_TYPE	"kvm_yield_ops"

static const char *map_type_name(const struct policy *p,
				 const struct bpf_map *map)
{
	const struct btf *btf = bpf_object__btf(p->obj);
	const struct btf_type *t;
	const char *name = NULL;

	t = btf__type_by_id(btf, bpf_map__btf_value_type_id(map));
	if (t)
		name = btf__name_by_offset(btf, t->name_off);

	return name ? name : "?";
}

/* A type's name up to "___": what follows is a flavour, for CO-RE. */
static bool is_ops_type(const char *name)
{
	size_t len = strlen(OPS_TYPE);

	return !strncmp(name, OPS_TYPE, len) &&
	       (!name[len] || !strncmp(name + len, "___", 3));
}

static int find_ops(struct policy *p)
{
	const char *other = NULL;
	struct bpf_map *map;

	bpf_object__for_each_map(map, p->obj) {
		if (bpf_map__type(map) != BPF_MAP_TYPE_STRUCT_OPS)
			continue;
		if (!is_ops_type(map_type_name(p, map))) {
			other = map_type_name(p, map);
			continue;
		}
		if (p->map) {
			hint("one policy a file");
			return fail(USAGE, "%s holds more than one policy: '%s' and '%s'",
				    p->file.path, bpf_map__name(p->map),
				    bpf_map__name(map));
		}
		p->map = map;
	}

	if (other)
		return fail(USAGE, "%s holds a struct_ops of type %s, not " OPS_TYPE,
			    p->file.path, other);
	if (p->map)
		return DONE;
	hint("a policy is a struct " OPS_TYPE " in SEC(\".struct_ops.link\")");

	return fail(USAGE, "%s is a BPF object without a struct_ops: it is no policy",
		    p->file.path);
}

/* The bytes of a member of the policy's kvm_yield_ops, or NULL. */
static const void *ops_member(const struct policy *p, const char *name,
			      size_t min)
{
	const struct btf *btf = bpf_object__btf(p->obj);
	const struct btf_member *m;
	const struct btf_type *t;
	size_t size = 0, at;
	const char *data, *found;
	int i;

	t = btf__type_by_id(btf, bpf_map__btf_value_type_id(p->map));
	data = bpf_map__initial_value(p->map, &size);
	if (!t || !data)
		return NULL;

	m = btf_members(t);
	for (i = 0; i < btf_vlen(t); i++, m++) {
		found = btf__name_by_offset(btf, m->name_off);
		at = m->offset / 8;
		if (found && !strcmp(found, name))
			return at + min <= size ? data + at : NULL;
	}

	return NULL;
}

static int read_name(struct policy *p)
{
	const char *name = ops_member(p, "name", KVMYIELD_NAME_LEN);
	size_t len, i;

	if (!name)
		return fail(USAGE, "%s: its " OPS_TYPE " has no name of %d bytes",
			    p->file.path, KVMYIELD_NAME_LEN);

	len = strnlen(name, KVMYIELD_NAME_LEN);
	for (i = 0; i < len; i++) {
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-",
			    name[i]))
			break;
	}
	if (!len || len == KVMYIELD_NAME_LEN || i < len) {
		hint("set .name to 1 to %d of the characters A-Z a-z 0-9 _ . -",
		     KVMYIELD_NAME_LEN - 1);
		return fail(USAGE, "the policy in %s has %s", p->file.path,
			    len ? "a name that is not allowed" : "no name");
	}
	memcpy(p->name, name, len);

	return DONE;
}

static int inspect(struct policy *p)
{
	void *const *rank;
	const int *vm_pid;
	int status;

	status = find_ops(p);
	if (status)
		return status;

	if (!(bpf_map__map_flags(p->map) & BPF_F_LINK)) {
		hint("put it into SEC(\".struct_ops.link\")");
		return fail(USAGE, "the policy in %s cannot be attached by a link",
			    p->file.path);
	}
	status = read_name(p);
	if (status)
		return status;

	rank = ops_member(p, "rank", sizeof(*rank));
	if (!rank || !*rank)
		return fail(USAGE, "the policy '%s' has no rank()", p->name);
	vm_pid = ops_member(p, "vm_pid", sizeof(*vm_pid));
	p->vm_pid = vm_pid ? *vm_pid : 0;

	return DONE;
}

/**
 * policy_open_file - open the policy that @p->file names
 * @p: zeroed but for @p->file and @p->word; to be closed, also after a failure
 *
 * Needs neither privilege nor a kernel with the hook.
 *
 * Return: an exit status
 */
int policy_open_file(struct policy *p)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = p->file.name);
	const char *why;
	int status;

	status = object_read(p->file.path, &p->image, &p->size);
	if (status)
		return status;
	object_desc(p->image, p->size, p->desc, sizeof(p->desc));

	libbpf_listen();
	p->obj = bpf_object__open_mem(p->image, p->size, &opts);
	if (!p->obj) {
		why = libbpf_first_warning();
		return fail(USAGE, "%s is not a BPF object that can be loaded: %s",
			    p->file.path, why[0] ? why : strerror_plain(errno));
	}

	return inspect(p);
}

/**
 * policy_open - find and open a policy
 * @p: receives it; to be closed, also after a failure
 * @word: its name or path
 *
 * Return: an exit status
 */
int policy_open(struct policy *p, const char *word)
{
	int status;

	memset(p, 0, sizeof(*p));
	p->word = word;
	status = policy_find(word, &p->file);

	return status ? status : policy_open_file(p);
}

void policy_close(struct policy *p)
{
	bpf_object__close(p->obj);
	free(p->image);
	p->obj = NULL;
	p->map = NULL;
	p->image = NULL;
}

static int load_failed(const struct policy *p, int err)
{
	const char *why = libbpf_first_warning();
	struct verdict v;

	if (verifier_verdict(&v)) {
		if (!opt.verbose)
			hint("kvmyield check -v %s shows the verifier's whole log",
			     p->word);
		return fail(REFUSED, "the verifier refused the program '%s' of %s: %s%s%s%s",
			    v.prog, p->name, v.reason, v.source[0] ? " (" : "",
			    v.source, v.source[0] ? ")" : "");
	}
	if (err == -EPERM) {
		hint("run it as root");
		return fail(REFUSED, "no permission to load BPF programs");
	}

	return fail(REFUSED, "the kernel did not take the policy '%s': %s%s%s",
		    p->name, strerror_plain(-err), why[0] ? "; " : "", why);
}

/**
 * policy_load - have a policy verified, and ready to be attached
 * @p: an opened policy
 *
 * Return: an exit status
 */
int policy_load(struct policy *p)
{
	int err;

	libbpf_listen();
	err = bpf_object__load(p->obj);

	return err ? load_failed(p, err) : DONE;
}
