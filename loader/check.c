// SPDX-License-Identifier: GPL-2.0
/* kvmyield check: have a policy verified, and throw it away. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/bpf.h>

#include "host.h"
#include "policy.h"

#define LOG_SIZE	4096
#define LOG_STATS	4	/* the kernel's BPF_LOG_STATS */
#define PROGS_MAX	32

/**
 * struct cost - what a program cost the verifier
 * @prog: the program
 * @log: the verifier's figures
 */
struct cost {
	struct bpf_program	*prog;
	char			log[LOG_SIZE];
};

struct costs {
	struct cost	*cost;
	size_t		n;
};

/* With figures asked for, the log holds nothing else unless it fails. */
static int ask_for_figures(struct policy *p, struct costs *costs)
{
	struct bpf_program *prog;
	struct cost *c;

	costs->n = 0;
	costs->cost = calloc(PROGS_MAX, sizeof(*costs->cost));
	if (!costs->cost)
		return fail(REFUSED, "out of memory");

	bpf_object__for_each_program(prog, p->obj) {
		if (costs->n == PROGS_MAX)
			break;
		c = &costs->cost[costs->n++];
		c->prog = prog;
		bpf_program__set_log_level(prog, LOG_STATS);
		bpf_program__set_log_buf(prog, c->log, sizeof(c->log));
	}

	return DONE;
}

static unsigned int figure(const char *log, const char *before)
{
	const char *at = strstr(log, before);

	return at ? strtoul(at + strlen(before), NULL, 10) : 0;
}

static void report_prog(const struct cost *c, json_t *programs)
{
	const char *name = bpf_program__name(c->prog);
	struct bpf_prog_info info = { };
	__u32 len = sizeof(info);
	unsigned int us, insns;

	if (bpf_program__fd(c->prog) < 0 ||
	    bpf_prog_get_info_by_fd(bpf_program__fd(c->prog), &info, &len))
		return;

	us = figure(c->log, "verification time ");
	insns = info.verified_insns;
	if (!insns)
		insns = figure(c->log, "processed ");

	say("  %-20s %7u insns verified in %u us, %u B translated, %u B native",
	    name, insns, us, info.xlated_prog_len, info.jited_prog_len);
	json_array_append_new(programs, json_pack("{s:o,s:I,s:I,s:I,s:I}",
		"name", json_text(name),
		"verified_insns", (json_int_t)insns,
		"verification_us", (json_int_t)us,
		"xlated_bytes", (json_int_t)info.xlated_prog_len,
		"jited_bytes", (json_int_t)info.jited_prog_len));
}

static void report(const struct policy *p, const struct costs *costs,
		   json_t *out)
{
	json_t *programs = json_array();
	size_t i;

	say("%s: accepted by the verifier", p->name);
	for (i = 0; i < costs->n; i++)
		report_prog(&costs->cost[i], programs);
	json_object_set_new(out, "policy", json_text(p->name));
	json_object_set_new(out, "path", json_text(p->file.path));
	json_object_set_new(out, "parameters", params_json(p));
	json_object_set_new(out, "programs", programs);
}

/* A refusal is looked at again, with the log in which its reason is. */
static int check_again(struct policy *p, int argc, char **argv)
{
	struct policy again = { .word = p->word, .file = p->file };
	int status;

	policy_close(p);
	*p = again;
	error_forget();

	status = policy_open_file(p);
	if (!status)
		status = params_set(p, argc, argv);
	if (!status)
		status = policy_load(p);
	if (!status)
		status = fail(REFUSED, "the kernel refused the policy '%s' once, and took it the next time",
			      p->name);

	return status;
}

int do_check(int argc, char **argv, json_t *out)
{
	struct costs costs = { };
	struct policy p;
	int status;

	status = policy_open(&p, argv[0]);
	if (!status)
		status = params_set(&p, argc - 1, argv + 1);
	if (!status)
		status = host_require(NEED_HOOK);
	if (!status)
		status = ask_for_figures(&p, &costs);
	if (status)
		goto out;

	status = policy_load(&p);
	if (status)
		status = check_again(&p, argc - 1, argv + 1);
	else
		report(&p, &costs, out);
out:
	policy_close(&p);
	free(costs.cost);

	return status;
}
