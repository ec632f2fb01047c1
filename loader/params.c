// SPDX-License-Identifier: GPL-2.0
/*
 * A policy's parameters: its `const volatile` globals of an integer or boolean
 * type, which the object's BTF describes. They are set before the verifier sees
 * the policy, which then knows them as constants.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/btf.h>

#include "policy.h"

#define RODATA		".rodata"
#define PARAMS_MAX	64

struct param {
	const char	*name;
	void		*value;
	__u32		size;
	bool		is_bool;
	bool		is_signed;
};

struct params {
	struct param	param[PARAMS_MAX];
	size_t		n;
};

static bool int_param(const struct btf *btf, __u32 type_id, struct param *param)
{
	bool is_volatile = false;
	const struct btf_type *t = btf__type_by_id(btf, type_id);

	/* Without volatile the compiler has used the default up. */
	while (t && (btf_is_mod(t) || btf_is_typedef(t))) {
		is_volatile |= btf_is_volatile(t);
		t = btf__type_by_id(btf, t->type);
	}
	if (!t || !is_volatile || !btf_is_int(t))
		return false;

	param->size = t->size;
	param->is_bool = btf_int_encoding(t) & BTF_INT_BOOL;
	param->is_signed = btf_int_encoding(t) & BTF_INT_SIGNED;

	return t->size == 1 || t->size == 2 || t->size == 4 || t->size == 8;
}

static void find_params(const struct policy *p, struct params *params)
{
	const struct btf *btf = bpf_object__btf(p->obj);
	const struct btf_type *section, *var;
	const struct btf_var_secinfo *info;
	struct param *param;
	struct bpf_map *map;
	size_t size = 0;
	char *data;
	int id, i;

	params->n = 0;
	map = bpf_object__find_map_by_name(p->obj, RODATA);
	id = btf__find_by_name_kind(btf, RODATA, BTF_KIND_DATASEC);
	data = map ? bpf_map__initial_value(map, &size) : NULL;
	if (id < 0 || !data)
		return;

	section = btf__type_by_id(btf, id);
	info = btf_var_secinfos(section);
	for (i = 0; i < btf_vlen(section) && params->n < PARAMS_MAX; i++, info++) {
		param = &params->param[params->n];
		var = btf__type_by_id(btf, info->type);
		if (!var || !btf_is_var(var) ||
		    btf_var(var)->linkage == BTF_VAR_STATIC ||
		    !int_param(btf, var->type, param) ||
		    (size_t)info->offset + param->size > size)
			continue;
		param->name = btf__name_by_offset(btf, var->name_off);
		param->value = data + info->offset;
		params->n++;
	}
}

static void range(const struct param *p, __s64 *min, __u64 *max)
{
	int bits = p->size * 8;

	if (p->is_bool) {
		*min = 0;
		*max = 1;
	} else if (p->is_signed) {
		*min = INT64_MIN >> (64 - bits);
		*max = (__u64)INT64_MAX >> (64 - bits);
	} else {
		*min = 0;
		*max = UINT64_MAX >> (64 - bits);
	}
}

static const char *type_name(const struct param *p)
{
	static const char *const names[2][4] = {
		{ "u8", "u16", "u32", "u64" }, { "s8", "s16", "s32", "s64" },
	};

	if (p->is_bool)
		return "bool";

	return names[p->is_signed][__builtin_ctz(p->size)];
}

/* Decimal, or hexadecimal with 0x; 010 is ten, whatever C thinks. */
static int parse_number(const char *text, bool *negative, __u64 *number)
{
	const char *digits = text;
	char *end;
	int base;

	*negative = text[0] == '-';
	digits += *negative;
	base = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X') ? 16 : 10;
	if (digits[0] < '0' || digits[0] > '9')
		return -EINVAL;

	errno = 0;
	*number = strtoull(digits, &end, base);
	if (*end || end == digits)
		return -EINVAL;

	return -errno;
}

static int wrong_value(const struct param *p, const char *text)
{
	__s64 min;
	__u64 max;

	range(p, &min, &max);
	if (p->is_bool) {
		hint("%s=true or %s=false", p->name, p->name);
		return fail(USAGE, "the parameter %s cannot be '%s'", p->name, text);
	}

	return fail(USAGE, "the parameter %s cannot be '%s': it is a %s, %lld to %llu",
		    p->name, text, type_name(p), min, max);
}

static int set_param(const struct param *p, const char *text)
{
	__u64 number, max;
	bool negative;
	__s64 min;

	if (p->is_bool && (!strcmp(text, "true") || !strcmp(text, "false"))) {
		*(__u8 *)p->value = text[0] == 't';
		return DONE;
	}

	range(p, &min, &max);
	if (parse_number(text, &negative, &number))
		return wrong_value(p, text);
	if (negative ? number > -(__u64)min : number > max)
		return wrong_value(p, text);
	if (negative)
		number = -number;
	/* BPF objects and this program are little-endian: the low bytes come first. */
	memcpy(p->value, &number, p->size);

	return DONE;
}

static int unknown_param(const struct policy *policy,
			 const struct params *params, const char *name)
{
	const char *names[PARAMS_MAX];
	char all[400] = "";
	const char *near;
	size_t i, used = 0;

	for (i = 0; i < params->n; i++) {
		names[i] = params->param[i].name;
		if (used < sizeof(all))
			used += snprintf(all + used, sizeof(all) - used, "%s%s",
					 i ? ", " : "", names[i]);
	}
	near = nearest(name, names, params->n);

	if (!params->n)
		hint("leave out '%s=...'", name);
	else if (near)
		hint("did you mean '%s'? the parameters of %s are: %s", near,
		     policy->name, all);
	else
		hint("the parameters of %s are: %s", policy->name, all);

	return fail(USAGE, "the policy '%s' has no parameter%s'%s'", policy->name,
		    params->n ? " " : "s: ", name);
}

static int set_one(struct policy *policy, const struct params *params,
		   const char *arg, bool *seen)
{
	const char *equals = strchr(arg, '=');
	char name[128];
	size_t i;

	if (!equals || equals == arg) {
		hint("write it as NAME=VALUE");
		return fail(USAGE, "'%s' is not a parameter", arg);
	}

	snprintf(name, sizeof(name), "%.*s", (int)(equals - arg), arg);
	for (i = 0; i < params->n; i++) {
		if (strcmp(params->param[i].name, name))
			continue;
		if (seen[i])
			return fail(USAGE, "the parameter %s is given twice", name);
		seen[i] = true;
		return set_param(&params->param[i], equals + 1);
	}

	return unknown_param(policy, params, name);
}

/**
 * params_set - set a policy's parameters
 * @policy: opened, and not yet loaded
 * @argc: how many
 * @argv: NAME=VALUE each
 *
 * Return: an exit status
 */
int params_set(struct policy *policy, int argc, char **argv)
{
	bool seen[PARAMS_MAX] = { };
	struct params params;
	int status = DONE;
	int i;

	find_params(policy, &params);
	for (i = 0; i < argc && !status; i++)
		status = set_one(policy, &params, argv[i], seen);

	return status;
}

static json_t *param_value(const struct param *p)
{
	__u64 number = 0;
	int shift = 64 - 8 * p->size;

	memcpy(&number, p->value, p->size);
	if (p->is_bool)
		return json_boolean(number);
	if (p->is_signed)
		return json_integer((__s64)(number << shift) >> shift);
	/* JSON integers are signed here; a larger one is given as text. */
	if (number > INT64_MAX)
		return json_sprintf("%llu", number);

	return json_integer(number);
}

/**
 * params_json - a policy's parameters with their types and values
 * @policy: opened
 *
 * Return: an array, or NULL without memory
 */
json_t *params_json(const struct policy *policy)
{
	json_t *array = json_array();
	struct params params;
	size_t i;

	find_params(policy, &params);
	for (i = 0; array && i < params.n; i++)
		json_array_append_new(array, json_pack("{s:o,s:s,s:o}",
			"name", json_text(params.param[i].name),
			"type", type_name(&params.param[i]),
			"value", param_value(&params.param[i])));

	return array;
}
