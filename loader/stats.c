// SPDX-License-Identifier: GPL-2.0
/* kvmyield stats */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "host.h"
#include "stats.h"

/* Whose choice it is, if this user may ask and the kernel knows; text: the policy's name. */
static const char *who_decides(char *text, size_t len)
{
	struct kvmyield_status s = { };

	if (host_require(NEED_HOOK) || hook_status(&s)) {
		error_forget();
		return NULL;
	}
	snprintf(text, len, "%s", s.id ? s.name : "none");

	return plain_text(text);
}

/* A VM that ends while it is looked at is left out; so is one that is not ours to see. */
static void take_each(struct vmms *all)
{
	size_t i, n = 0;
	int status;

	for (i = 0; i < all->n; i++) {
		status = vmm_take(&all->vmm[i]);
		if (status)
			vmm_forget(&all->vmm[i]);
		if (status == USAGE) {
			vmm_free(&all->vmm[i]);
			error_forget();
			continue;
		}
		if (status == REFUSED) {
			all->unseen++;
			error_forget();
		}
		if (n < i) {
			all->vmm[n] = all->vmm[i];
			memset(&all->vmm[i], 0, sizeof(all->vmm[i]));
		}
		n++;
		/* All VMs have one KVM. */
		if (status == UNSUPPORTED)
			return;
	}
	all->n = n;
}

static int put_metrics(const struct vmms *all, const char *policy)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	int status;

	if (!f)
		return fail(REFUSED, "out of memory");
	status = vmms_prom(all, policy, opt.metrics == METRICS_OPEN, f);
	if (fclose(f) && !status)
		status = fail(REFUSED, "out of memory");
	if (!status && opt.output)
		status = write_file(opt.output, text, len);
	else if (!status)
		fwrite(text, 1, len, stdout);
	free(text);

	return status;
}

/* @pid 0: all processes. */
static int find(struct vmms *all, int pid)
{
	int status;

	if (!pid)
		return vmms_find(all);
	memset(all, 0, sizeof(*all));
	all->vmm = calloc(1, sizeof(*all->vmm));
	if (!all->vmm)
		return fail(REFUSED, "out of memory");
	status = vmm_find(all->vmm, pid);
	if (!status)
		all->n = 1;

	return status;
}

/* Rates are of the same files: a VM that came meanwhile has none yet. */
static bool comparable(const struct vmms *a, const struct vmms *b)
{
	return a->n == 1 && b->n == 1 && a->vmm[0].pid == b->vmm[0].pid &&
	       a->vmm[0].n == b->vmm[0].n &&
	       !memcmp(a->vmm[0].file, b->vmm[0].file,
		       a->vmm[0].n * sizeof(*a->vmm[0].file));
}

/* One look, and what it is compared to. */
static int look(int pid, struct vmms *all, const struct vmms *before, json_t *out)
{
	int status = find(all, pid);
	const struct vmm *then;
	const char *policy;
	char text[64];

	if (!status && pid)
		status = vmm_take(&all->vmm[0]);
	else if (!status && opt.metrics)
		take_each(all);
	if (!status)
		status = error_status();
	if (status)
		return status;

	policy = who_decides(text, sizeof(text));
	if (opt.metrics)
		return put_metrics(all, policy);
	if (!pid) {
		vmms_show(all, policy);
		return vmms_json(all, policy, out);
	}
	then = before && comparable(all, before) ? &before->vmm[0] : NULL;
	vmm_show(&all->vmm[0], policy, then);

	return vmm_json(&all->vmm[0], policy, then, out);
}

static void sleep_for(double seconds)
{
	struct timespec ts = { .tv_sec = seconds };

	ts.tv_nsec = (seconds - ts.tv_sec) * 1e9;
	fflush(stdout);
	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

/* One object a line, so that a reader need not know where one ends. */
static void put_line(json_t *out)
{
	if (!opt.json || opt.metrics)
		return;
	json_object_set_new(out, "time", json_real(time(NULL)));
	json_dumpf(out, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER);
	putchar('\n');
}

static int watch_once(int pid, struct vmms *all, const struct vmms *before)
{
	json_t *out = json_pack("{s:i}", "schema", 1);
	int status;

	if (!out)
		return fail(REFUSED, "out of memory");
	if (!opt.json && !opt.metrics && isatty(STDOUT_FILENO))
		fputs("\033[H\033[J", stdout);
	status = look(pid, all, before, out);
	if (!status)
		put_line(out);
	json_decref(out);
	if (!opt.json && !opt.metrics && !opt.quiet && !isatty(STDOUT_FILENO))
		putchar('\n');

	return status;
}

static int watch(int pid)
{
	struct vmms sets[2] = { }, *now, *before;
	bool have = false;
	int status = DONE;
	unsigned int i;

	for (i = 0; !status && (!opt.count || i < opt.count); i++) {
		now = &sets[i % 2];
		before = &sets[!(i % 2)];
		vmms_free(now);
		if (i)
			sleep_for(opt.interval);
		status = watch_once(pid, now, have ? before : NULL);
		/* If the files are others now, the next rates are of them. */
		have = !status && pid && !opt.metrics;
		if (ferror(stdout))
			status = REFUSED;
	}
	vmms_free(&sets[0]);
	vmms_free(&sets[1]);

	return status;
}

static int read_pid(const char *text, int *pid)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 10);
	if (errno || end == text || *end || text[0] < '0' || text[0] > '9' ||
	    n < 1 || n > INT_MAX) {
		hint("kvmyield stats lists the processes that have VMs");
		return fail(USAGE, "'%s' is no process id", text);
	}
	*pid = n;

	return DONE;
}

static int check_options(void)
{
	if (opt.count && !opt.interval)
		return fail(USAGE, "--count means something only with --watch");
	if (opt.output && !opt.metrics)
		return fail(USAGE, "--output means something only with --prom or --openmetrics");
	if (opt.metrics && opt.json)
		return fail(USAGE, "metrics are not JSON: leave out --json, or --prom and --openmetrics");
	if (opt.metrics && opt.interval && !opt.output) {
		hint("-o FILE writes it anew each time");
		return fail(USAGE, "metrics have an end, and --watch has none");
	}

	return DONE;
}

int do_stats(int argc, char **argv, json_t *out)
{
	struct vmms all = { };
	int pid = 0, status;

	status = check_options();
	if (!status && argc)
		status = read_pid(argv[0], &pid);
	if (status)
		return status;
	if (opt.interval)
		return watch(pid);

	status = look(pid, &all, NULL, out);
	vmms_free(&all);

	return status;
}
