// SPDX-License-Identifier: GPL-2.0
/*
 * hello: what does a host pay for very many tiny VMs? Creates, runs and destroys N
 * VMs of one page, J at a time, each in a process as VMMs are, and says what each
 * step of their lives took.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <ftw.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tinyvm.h"

#define MAX_VMS		10000000
#define MAX_JOBS	4096
#define MAX_CODE	64
#define DEBUGFS		"/sys/kernel/debug/kvm"

/* A VM's life as a whole, after its steps. */
#define LIFE		TINYVM_NR_STEPS
#define NR_FIGURES	(TINYVM_NR_STEPS + 1)

struct options {
	unsigned long	vms;
	unsigned long	jobs;
	uint8_t		code[MAX_CODE];
	size_t		len;
	long		look_ms;	/* -1: do not look */
	const char	*raw;
	bool		json;
	bool		hold;
};

/* What the processes share. */
struct shared {
	unsigned long	next;
	bool		stop;
	/* The most that a VM had in debugfs: at its hlt, and later. */
	unsigned long	entries;
	unsigned long	entries_later;
	uint64_t	ns[][NR_FIGURES];
};

struct percentiles {
	double	median;
	double	p90;
	double	p99;
};

static const struct {
	const char	*text;
	const char	*json;
} figure_names[NR_FIGURES] = {
	[TINYVM_OPEN]		= { "open /dev/kvm", "open" },
	[TINYVM_CREATE_VM]	= { "create VM", "create_vm" },
	[TINYVM_MEMORY]		= { "memory", "memory" },
	[TINYVM_CREATE_VCPU]	= { "create vCPU", "create_vcpu" },
	[TINYVM_SET_UP]		= { "set up", "set_up" },
	[TINYVM_RUN]		= { "run", "run" },
	[TINYVM_CLOSE]		= { "close", "close" },
	[LIFE]			= { "all of it", "life" },
};

static const char usage_text[] =
	"usage: hello [OPTION...]\n\n"
	"Creates, runs and destroys VMs of one page that do one hlt, in processes that\n"
	"each make one VM after the other, and prints median, 90th and 99th percentile of\n"
	"what each step took, in microseconds by the clock on the wall.\n\n"
	"  -n, --vms N        how many VMs in all (100)\n"
	"  -j, --jobs J       how many at a time, a process each (1)\n"
	"  -c, --code HEX     the bytes that they run, in real mode at 0 (f4: hlt)\n"
	"      --look MS      count what a VM has in debugfs, at its hlt and MS ms later;\n"
	"                     with one job, and while nobody else makes VMs\n"
	"      --raw FILE     write the nanoseconds of each step of each VM to FILE\n"
	"      --json         answer in JSON (with \"schema\": 1)\n"
	"      --hold         make none of this: make two VMs that keep KVM's static keys\n"
	"                     as they are, say \"held\", and keep them until killed\n"
	"  -h, --help         this text\n\n"
	"Exit status: 0 done, 1 wrong usage, 2 refused by the kernel, 3 a VM ended\n"
	"otherwise than by its hlt, 4 there is no KVM here.\n";

static int wrong_usage(const char *option, const char *value, const char *wants)
{
	return tinyvm_fail(TINYVM_USAGE, "hello --help", "%s %s is not %s", option, value, wants);
}

/* The kernel has refused something that is not KVM's. */
static int no_luck(const char *what)
{
	return tinyvm_fail(TINYVM_REFUSED, NULL, "%s: %s", what, strerror(errno));
}

static unsigned long debugfs_entries;

static int count_entry(const char *path, const struct stat *st, int type, struct FTW *where)
{
	debugfs_entries++;

	return 0;
}

static int count_debugfs(unsigned long *n)
{
	debugfs_entries = 0;
	if (nftw(DEBUGFS, count_entry, 8, FTW_PHYS) || debugfs_entries < 1)
		return tinyvm_fail(TINYVM_REFUSED, "be root, and: mount -t debugfs debugfs /sys/kernel/debug",
				   DEBUGFS " cannot be read: %s", strerror(errno));
	*n = debugfs_entries;

	return TINYVM_DONE;
}

struct looker {
	struct shared	*shared;
	long		ms;
	unsigned long	before;
};

static int look_once(const struct looker *l, unsigned long *most)
{
	unsigned long n;
	int status = count_debugfs(&n);

	if (!status && n > l->before && n - l->before > *most)
		*most = n - l->before;

	return status;
}

static int look(void *arg)
{
	struct looker *l = arg;
	int status = look_once(l, &l->shared->entries);

	if (status)
		return status;
	usleep(l->ms * 1000);

	return look_once(l, &l->shared->entries_later);
}

/* One process's VMs. It begins when the other end of the pipe is closed. */
static int work(const struct options *opt, struct shared *shared, int begin)
{
	struct looker looker = { shared, opt->look_ms };
	struct tinyvm vm = { };
	int status = tinyvm_init(&vm, opt->code, opt->len);
	unsigned long i;
	char nothing;

	if (status)
		return status;
	if (opt->look_ms >= 0) {
		vm.look = look;
		vm.look_arg = &looker;
		status = count_debugfs(&looker.before);
		if (status)
			return status;
	}
	while (read(begin, &nothing, 1) < 0 && errno == EINTR)
		;

	while (!status && !__atomic_load_n(&shared->stop, __ATOMIC_RELAXED)) {
		i = __atomic_fetch_add(&shared->next, 1, __ATOMIC_RELAXED);
		if (i >= opt->vms)
			break;
		status = tinyvm_live(&vm, shared->ns[i]);
	}

	return status;
}

static int start(const struct options *opt, struct shared *shared, int begin[2])
{
	pid_t parent = getpid(), pid = fork();
	int status;

	if (pid)
		return pid < 0 ? no_luck("a process cannot be started") : TINYVM_DONE;

	/* Not to go on without the one who asked for it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(TINYVM_REFUSED);
	close(begin[1]);
	status = work(opt, shared, begin[0]);
	if (status)
		__atomic_store_n(&shared->stop, true, __ATOMIC_RELAXED);
	_exit(status);
}

/* The first status that is not 0 is everybody's: the others were stopped by it. */
static int wait_for_all(void)
{
	int first = TINYVM_DONE, status;

	while (wait(&status) > 0) {
		if (WIFSIGNALED(status))
			status = tinyvm_fail(TINYVM_REFUSED, NULL, "a process was ended by signal %d",
					     WTERMSIG(status));
		else
			status = WEXITSTATUS(status);
		if (!first)
			first = status;
	}

	return first;
}

static int run_all(const struct options *opt, struct shared *shared, double *seconds)
{
	int begin[2], status = TINYVM_DONE;
	unsigned long i;
	uint64_t from;

	if (pipe(begin))
		return no_luck("a pipe cannot be made");
	for (i = 0; i < opt->jobs && !status; i++)
		status = start(opt, shared, begin);
	if (status)
		__atomic_store_n(&shared->stop, true, __ATOMIC_RELAXED);
	from = tinyvm_now();
	close(begin[1]);
	close(begin[0]);
	status = wait_for_all() ?: status;
	*seconds = (tinyvm_now() - from) / 1e9;

	return status;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The smallest value that so many of a hundred do not exceed. */
static double percentile(const uint64_t *sorted, unsigned long n, unsigned int percent)
{
	return sorted[(n * percent + 99) / 100 - 1] / 1e3;
}

static int summarise(const struct options *opt, struct shared *shared, struct percentiles *p)
{
	uint64_t *column = malloc(opt->vms * sizeof(*column));
	unsigned long i;
	int f;

	if (!column)
		return no_luck("no memory for the results");
	for (f = 0; f < NR_FIGURES; f++) {
		for (i = 0; i < opt->vms; i++)
			column[i] = shared->ns[i][f];
		qsort(column, opt->vms, sizeof(*column), compare);
		p[f].median = percentile(column, opt->vms, 50);
		p[f].p90 = percentile(column, opt->vms, 90);
		p[f].p99 = percentile(column, opt->vms, 99);
	}
	free(column);

	return TINYVM_DONE;
}

/* CPU time of all those processes, the kernel's on their behalf included. */
static double cpu_seconds(void)
{
	struct rusage u;

	getrusage(RUSAGE_CHILDREN, &u);

	return u.ru_utime.tv_sec + u.ru_stime.tv_sec +
	       (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void print_table(const struct options *opt, const struct shared *shared,
			const struct percentiles *p, double seconds)
{
	int f;

	printf("%lu VMs, %lu at a time: %.3f s, %.1f a second; CPU time %.3f s\n\n",
	       opt->vms, opt->jobs, seconds, opt->vms / seconds, cpu_seconds());
	printf("%-14s %12s %12s %12s\n", "step", "median us", "p90 us", "p99 us");
	for (f = 0; f < NR_FIGURES; f++)
		printf("%-14s %12.1f %12.1f %12.1f\n", figure_names[f].text,
		       p[f].median, p[f].p90, p[f].p99);
	if (opt->look_ms >= 0)
		printf("\nentries of a VM in debugfs: %lu at its hlt, %lu after %ld ms\n",
		       shared->entries, shared->entries_later, opt->look_ms);
}

/* One figure a line, for scripts without a JSON parser. */
static void print_json(const struct options *opt, const struct shared *shared,
		       const struct percentiles *p, double seconds)
{
	int f;

	printf("{\n  \"schema\": 1,\n  \"vms\": %lu,\n  \"jobs\": %lu,\n", opt->vms, opt->jobs);
	printf("  \"seconds\": %.6f,\n  \"cpu_seconds\": %.6f,\n", seconds, cpu_seconds());
	if (opt->look_ms >= 0)
		printf("  \"debugfs_entries\": %lu,\n  \"debugfs_entries_later\": %lu,\n",
		       shared->entries, shared->entries_later);
	printf("  \"steps\": [\n");
	for (f = 0; f < NR_FIGURES; f++)
		printf("    { \"step\": \"%s\", \"median_us\": %.3f, \"p90_us\": %.3f, \"p99_us\": %.3f }%s\n",
		       figure_names[f].json, p[f].median, p[f].p90, p[f].p99,
		       f + 1 < NR_FIGURES ? "," : "");
	printf("  ]\n}\n");
}

static int write_raw(const struct options *opt, const struct shared *shared)
{
	FILE *out = fopen(opt->raw, "w");
	unsigned long i;
	int f;

	if (out) {
		fputs("# nanoseconds, a line each VM:", out);
		for (f = 0; f < NR_FIGURES; f++)
			fprintf(out, " %s", figure_names[f].json);
		fputc('\n', out);
		for (i = 0; i < opt->vms; i++) {
			for (f = 0; f < NR_FIGURES; f++)
				fprintf(out, f ? " %llu" : "%llu", (unsigned long long)shared->ns[i][f]);
			fputc('\n', out);
		}
	}
	if (!out || ferror(out) | fclose(out))
		return tinyvm_fail(TINYVM_USAGE, "--raw FILE, where it can be written",
				   "%s cannot be written: %s", opt->raw, strerror(errno));

	return TINYVM_DONE;
}

static int measure(const struct options *opt)
{
	size_t size = sizeof(struct shared) + opt->vms * sizeof(uint64_t[NR_FIGURES]);
	struct percentiles p[NR_FIGURES];
	struct shared *shared;
	double seconds = 0;
	unsigned long i;
	int status, f;

	/* There from the start, so that no VM pays for a page of it. */
	shared = mmap(NULL, size, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (shared == MAP_FAILED)
		return no_luck("no memory for the results");
	status = run_all(opt, shared, &seconds);
	if (status)
		return status;

	for (i = 0; i < opt->vms; i++) {
		for (f = 0; f < TINYVM_NR_STEPS; f++)
			shared->ns[i][LIFE] += shared->ns[i][f];
	}
	if (opt->raw)
		status = write_raw(opt, shared);
	if (!status)
		status = summarise(opt, shared, p);
	if (status)
		return status;
	(opt->json ? print_json : print_table)(opt, shared, p, seconds);
	if (fflush(stdout) || ferror(stdout))
		return no_luck("the answer cannot be written");

	return TINYVM_DONE;
}

static int hold(void)
{
	int status = tinyvm_hold();

	if (status)
		return status;
	puts("held");
	fflush(stdout);
	/* Whoever waits for the end of this output shall not wait for that of the VMs. */
	fclose(stdout);
	for (;;)
		pause();
}

static bool number(const char *s, unsigned long min, unsigned long max, unsigned long *n)
{
	char *end;

	errno = 0;
	*n = strtoul(s, &end, 10);

	return *s >= '0' && *s <= '9' && !*end && !errno && *n >= min && *n <= max;
}

static bool hex(const char *s, struct options *opt)
{
	unsigned int byte;

	for (opt->len = 0; s[0] && opt->len < MAX_CODE; s += 2) {
		if (strspn(s, "0123456789abcdefABCDEF") < 2 || sscanf(s, "%2x", &byte) != 1)
			return false;
		opt->code[opt->len++] = byte;
	}

	return opt->len && !*s;
}

static const struct option long_options[] = {
	{ "vms",	required_argument, NULL, 'n' },
	{ "jobs",	required_argument, NULL, 'j' },
	{ "code",	required_argument, NULL, 'c' },
	{ "look",	required_argument, NULL, 'L' },
	{ "raw",	required_argument, NULL, 'R' },
	{ "json",	no_argument, NULL, 'J' },
	{ "hold",	no_argument, NULL, 'H' },
	{ "help",	no_argument, NULL, 'h' },
	{ }
};

static int parse(int argc, char **argv, struct options *opt)
{
	unsigned long ms;
	int c;

	while ((c = getopt_long(argc, argv, "n:j:c:h", long_options, NULL)) != -1) {
		switch (c) {
		case 'n':
			if (!number(optarg, 1, MAX_VMS, &opt->vms))
				return wrong_usage("--vms", optarg, "a number from 1 to 10000000");
			break;
		case 'j':
			if (!number(optarg, 1, MAX_JOBS, &opt->jobs))
				return wrong_usage("--jobs", optarg, "a number from 1 to 4096");
			break;
		case 'c':
			if (!hex(optarg, opt))
				return wrong_usage("--code", optarg, "1 to 64 bytes in hexadecimal");
			break;
		case 'L':
			if (!number(optarg, 0, 60000, &ms))
				return wrong_usage("--look", optarg, "a number of milliseconds up to 60000");
			opt->look_ms = ms;
			break;
		case 'R': opt->raw = optarg; break;
		case 'J': opt->json = true; break;
		case 'H': opt->hold = true; break;
		case 'h': fputs(usage_text, stdout); exit(TINYVM_DONE);
		default:
			fputs("hint: hello --help\n", stderr);
			return TINYVM_USAGE;
		}
	}
	if (optind < argc)
		return wrong_usage("the argument", argv[optind], "an option");
	if (opt->look_ms >= 0 && opt->jobs > 1)
		return tinyvm_fail(TINYVM_USAGE, "--jobs 1", "--look cannot tell the VMs of several processes apart");

	return TINYVM_DONE;
}

int main(int argc, char **argv)
{
	struct options opt = {
		.vms = 100, .jobs = 1, .code = { 0xf4 }, .len = 1, .look_ms = -1,
	};
	int status = parse(argc, argv, &opt);

	if (status)
		return status;

	return opt.hold ? hold() : measure(&opt);
}
