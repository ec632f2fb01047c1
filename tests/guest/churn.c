// SPDX-License-Identifier: GPL-2.0
/*
 * Attach one policy, replace it by another and detach, so many times.
 *
 * usage: test-churn TIMES POLICY.bpf.o OTHER.bpf.o
 *
 * In one process, so that a thousand rounds are a matter of seconds; the loader
 * does the same once a call. Each round has a new link, and every twentieth new
 * programs and maps.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "vm.h"

#define FRESH	20

static struct bpf_object *load(const char *path)
{
	struct bpf_object *obj = bpf_object__open(path);

	if (!obj || bpf_object__load(obj))
		die("cannot load %s", path);
	return obj;
}

static struct bpf_map *policy_map(struct bpf_object *obj)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, obj) {
		if (bpf_map__type(map) == BPF_MAP_TYPE_STRUCT_OPS)
			return map;
	}
	die("no struct_ops map");
}

static void round_trip(struct bpf_object *a, struct bpf_object *b)
{
	struct bpf_link *link;

	link = bpf_map__attach_struct_ops(policy_map(a));
	if (!link)
		die("cannot attach %s", bpf_object__name(a));
	if (bpf_link__update_map(link, policy_map(b)))
		die("cannot replace %s by %s", bpf_object__name(a),
		    bpf_object__name(b));
	if (bpf_link__destroy(link))
		die("cannot detach %s", bpf_object__name(b));
}

static int quiet(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	return level == LIBBPF_WARN ? vfprintf(stderr, fmt, ap) : 0;
}

int main(int argc, char **argv)
{
	struct bpf_object *a = NULL, *b = NULL;
	int i, times = argc == 4 ? atoi(argv[1]) : 0;

	if (times < 1) {
		fprintf(stderr, "usage: test-churn TIMES POLICY OTHER\n");
		return 1;
	}
	libbpf_set_print(quiet);
	for (i = 0; i < times; i++) {
		if (i % FRESH == 0) {
			bpf_object__close(a);
			bpf_object__close(b);
			a = load(argv[2]);
			b = load(argv[3]);
		}
		round_trip(a, b);
	}
	bpf_object__close(a);
	bpf_object__close(b);
	printf("%d rounds\n", times);
	return 0;
}
