// SPDX-License-Identifier: GPL-2.0
/* kvmyield: load, replace, inspect and remove KVM's directed-yield policies. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kvmyield.h"

#define KVMYIELD_VERSION	"0.1"

struct options opt;

/**
 * struct verb - a row of the table of commands
 * @name: the command
 * @args: its arguments, for the usage line
 * @what: one line for the list
 * @more: a few more, for its own help
 * @min: arguments that it needs
 * @max: arguments that it takes; -1: any number
 * @takes: which of the options "vfms" mean something to it (m: --vm; s: those of
 *	stats)
 * @fn: does it
 */
struct verb {
	const char	*name;
	const char	*args;
	const char	*what;
	const char	*more;
	int		min;
	int		max;
	const char	*takes;
	verb_fn		fn;
};

static int do_help(int argc, char **argv, json_t *out);

static const struct verb verbs[] = {
	{ "load", "POLICY [NAME=VALUE ...]",
	  "attach a policy; it stays when kvmyield ends",
	  "POLICY is a name (see 'kvmyield list') or the path of a .bpf.o file.\n"
	  "NAME=VALUE sets a parameter of the policy ('kvmyield list -v').\n"
	  "Refused while a policy is attached: use 'kvmyield replace'.\n"
	  "The policy is pinned at /sys/fs/bpf/kvmyield/host.\n",
	  1, -1, "v", do_load },
	{ "replace", "POLICY [NAME=VALUE ...]",
	  "put another policy in the place of the attached one",
	  "Atomic: each spin is decided by the old policy or by the new one.\n"
	  "If the new one is refused, the old one stays.\n",
	  1, -1, "v", do_replace },
	{ "unload", "[--force]",
	  "detach the policy; KVM's own code decides again",
	  "With --force also a policy that kvmyield did not load.\n",
	  0, 0, "f", do_unload },
	{ "status", "[--vm PID]",
	  "which policy is attached, and what it has done",
	  "Counts, since the policy was attached:\n"
	  "  spins       pause-loop exits that were the policy's to decide\n"
	  "  candidates  how often it was asked about a vCPU that waited for a CPU\n"
	  "  tries       yields tried\n"
	  "  yields      yields that succeeded\n"
	  "  refused     spins with candidates of which it chose none\n"
	  "  overruled   those of them in which KVM's own code would have chosen\n"
	  "  bounded     spins left to KVM's own code, as one vCPU had been yielded to\n"
	  "              too often in a row\n"
	  "Then for each fact how often it was true of a candidate (seen) and of a vCPU\n"
	  "that was yielded to (chosen); and for each VM what was done to it, the one\n"
	  "with the most spins first (20 of them; -v: all). With --vm only the VM of\n"
	  "this process, with its facts. A VM's counts go when it ends, the policy's stay.\n"
	  "Exit status: 0 attached, 3 nothing is loaded, 5 the policy that was\n"
	  "loaded last was ejected by KVM; 1 with --vm if the process has no VM.\n",
	  0, 0, "vm", do_status },
	{ "list", "[POLICY]",
	  "the policies that can be loaded by name",
	  "With -v, and for one POLICY, also its parameters. Looks in the\n"
	  "directories of $KVMYIELD_POLICY_PATH (separated by colons), in\n"
	  "../policies beside this program, /usr/local/lib/kvmyield/policies and\n"
	  "/usr/lib/kvmyield/policies; the first policy of a name counts.\n",
	  0, 1, "v", do_list },
	{ "check", "POLICY [NAME=VALUE ...]",
	  "verify a policy in this kernel, without attaching it",
	  "Prints what the verifier processed and how long that took.\n",
	  1, -1, "v", do_check },
	{ "features", "[--vm PID]",
	  "what this kernel offers, and what is missing and why",
	  "Also which facts about vCPUs policies are told here: ok, missing, or partly,\n"
	  "that is of some VMs or at some times, with the reason. With --vm, which\n"
	  "facts they are told of the VM of this process.\n"
	  "Exit status: 0 a policy could be loaded, 4 none could; 1 with --vm if the\n"
	  "process has no VM.\n",
	  0, 0, "m", do_features },
	{ "stats", "[PID] [--watch[=SECONDS] [--count N]] [--prom | --openmetrics] [-o FILE]",
	  "the VMs of this host, or all of KVM's statistics of one",
	  "Without PID: which processes have VMs. With PID, the process of a VM (such as\n"
	  "QEMU's): every statistic that KVM has of the VM and of its vCPUs, whatever\n"
	  "vm_debugfs is. The VM's own file descriptors are taken over for it, for which\n"
	  "this user must have the right to trace the process.\n"
	  "  --watch[=SECONDS]  again every second, or so many seconds (0.1 and more), with\n"
	  "                     rates; shows what changed, -v shows all; with -j one object\n"
	  "                     a line\n"
	  "  --count N          so often, and not for ever\n"
	  "  --prom             metrics in Prometheus' text format, as node_exporter's\n"
	  "                     textfile collector reads it; without PID, of all VMs\n"
	  "  --openmetrics      the same in OpenMetrics 1.0\n"
	  "  -o, --output FILE  metrics into FILE, which is replaced at once or not at all\n"
	  "Exit status: 1 if there is no such process, it has no VM, or ends meanwhile; 2 if\n"
	  "this user may not look into it; 4 if this host's KVM tells only the VM's own\n"
	  "process, as Debian's does.\n",
	  0, 1, "vs", do_stats },
	{ "help", "[VERB]", "this text, or that of one verb", "",
	  0, 1, "", do_help },
};

static const char exit_text[] =
	"Exit status: 0 done, 1 wrong usage or not a policy, 2 refused by the kernel or\n"
	"the system, 3 nothing loaded, 4 not supported here, 5 ejected by KVM.\n";

static const struct verb *find_verb(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(verbs); i++) {
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
	}

	return NULL;
}

static const struct verb *need_verb(const char *name)
{
	const char *words[ARRAY_SIZE(verbs)];
	const struct verb *v = find_verb(name);
	const char *near;
	size_t i;

	if (v)
		return v;

	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		words[i] = verbs[i].name;
	near = nearest(name, words, ARRAY_SIZE(verbs));

	fail(USAGE, "there is no verb '%s'", name);
	if (near)
		hint("did you mean 'kvmyield %s'?", near);
	else
		hint("kvmyield help");

	return NULL;
}

static void print_help(FILE *to)
{
	size_t i;

	fputs("usage: kvmyield [OPTION...] VERB [ARGUMENT...]\n\n"
	      "Decides, by a BPF policy, which vCPU of a virtual machine a spinning vCPU\n"
	      "yields to.\n\n", to);
	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		fprintf(to, "  %-9s %s\n", verbs[i].name, verbs[i].what);
	fputs("\n"
	      "  -j, --json     answer in JSON (with \"schema\": 1), errors too\n"
	      "  -q, --quiet    say nothing but errors\n"
	      "  -v, --verbose  say more: the verifier's whole log, parameters\n"
	      "  -h, --help     this text, or the verb's\n"
	      "  -V, --version  the version\n\n", to);
	fputs(exit_text, to);
}

static void print_verb_help(const struct verb *v)
{
	printf("usage: kvmyield %s%s%s\n\n%s.\n%s", v->name,
	       v->args[0] ? " " : "", v->args, v->what, v->more);
	printf("\n%s", exit_text);
}

static int do_help(int argc, char **argv, json_t *out)
{
	const struct verb *v;

	if (!argc) {
		print_help(stdout);
		return DONE;
	}

	v = need_verb(argv[0]);
	if (!v)
		return USAGE;
	print_verb_help(v);

	return DONE;
}

/* The last option that only stats has. */
static const char *stats_option;

static int check_usage(const struct verb *v, int argc, char **argv)
{
	int status = DONE;

	if (argc < v->min)
		status = fail(USAGE, "%s needs a policy", v->name);
	else if (v->max >= 0 && argc > v->max)
		status = fail(USAGE, "%s does not take the argument '%s'",
			      v->name, argv[v->max]);
	else if (opt.force && !strchr(v->takes, 'f'))
		status = fail(USAGE, "%s has no option --force", v->name);
	else if (opt.vm && !strchr(v->takes, 'm'))
		status = fail(USAGE, "%s has no option --vm", v->name);
	else if (stats_option && !strchr(v->takes, 's'))
		status = fail(USAGE, "%s has no option %s", v->name, stats_option);

	if (status)
		hint("usage: kvmyield %s%s%s", v->name,
		     v->args[0] ? " " : "", v->args);

	return status;
}

static int run_verb(int argc, char **argv)
{
	const struct verb *v;
	json_t *out;
	int status;

	v = need_verb(argv[0]);
	if (!v)
		return USAGE;
	status = check_usage(v, argc - 1, argv + 1);
	if (status)
		return status;

	out = json_pack("{s:i}", "schema", 1);
	if (!out)
		return fail(REFUSED, "out of memory");

	status = v->fn(argc - 1, argv + 1, out);
	/* Some answers are no errors and still have an exit status: status's. */
	if (opt.json && json_object_size(out) > 1) {
		json_dumpf(out, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
		putchar('\n');
	}
	json_decref(out);

	return status;
}

/* Numbers for those that have no letter. */
enum {
	OPT_VM = 256,
	OPT_WATCH,
	OPT_COUNT,
	OPT_PROM,
	OPT_OPENMETRICS,
};

static const struct option long_options[] = {
	{ "json",	no_argument, NULL, 'j' },
	{ "quiet",	no_argument, NULL, 'q' },
	{ "verbose",	no_argument, NULL, 'v' },
	{ "force",	no_argument, NULL, 'f' },
	{ "vm",		required_argument, NULL, OPT_VM },
	{ "watch",	optional_argument, NULL, OPT_WATCH },
	{ "count",	required_argument, NULL, OPT_COUNT },
	{ "prom",	no_argument, NULL, OPT_PROM },
	{ "openmetrics", no_argument, NULL, OPT_OPENMETRICS },
	{ "output",	required_argument, NULL, 'o' },
	{ "help",	no_argument, NULL, 'h' },
	{ "version",	no_argument, NULL, 'V' },
	{ }
};

static const char short_options[] = "jqvhVo:";

static int bad_option(char **argv)
{
	if (optopt == OPT_VM) {
		hint("the id of the process that runs the VM, such as QEMU's");
		return fail(USAGE, "--vm needs a process id");
	}
	if (optopt == OPT_COUNT)
		return fail(USAGE, "--count needs a number");
	if (optopt == 'o')
		return fail(USAGE, "-o needs the name of a file");
	hint("kvmyield --help");
	/* optopt is 0 for an unknown word, and a known letter for --json=x. */
	if (!optopt || optopt == 'f' || strchr(short_options, optopt))
		return fail(USAGE, "there is no option '%s'", argv[optind - 1]);

	return fail(USAGE, "there is no option '-%c'", optopt);
}

static int read_vm(const char *text)
{
	char *end;
	long pid;

	errno = 0;
	pid = strtol(text, &end, 10);
	if (errno || end == text || *end || text[0] < '0' || text[0] > '9' ||
	    pid < 1 || pid > INT_MAX) {
		hint("the id of the process that runs the VM, such as QEMU's");
		return fail(USAGE, "--vm cannot be '%s': that is no process id",
			    text);
	}
	opt.vm = pid;

	return DONE;
}

static int read_interval(const char *text)
{
	char *end;

	stats_option = "--watch";
	opt.interval = 1;
	if (!text)
		return DONE;
	opt.interval = strtod(text, &end);
	if (end == text || *end || !(opt.interval >= 0.1) || opt.interval > 86400)
		return fail(USAGE, "--watch cannot be '%s': that is no number of seconds from 0.1 to 86400",
			    text);

	return DONE;
}

static int read_count(const char *text)
{
	char *end;
	long n;

	stats_option = "--count";
	errno = 0;
	n = strtol(text, &end, 10);
	if (errno || end == text || *end || n < 1 || n > INT_MAX)
		return fail(USAGE, "--count cannot be '%s': that is no number of looks",
			    text);
	opt.count = n;

	return DONE;
}

static int read_metrics(enum metrics which, const char *option)
{
	stats_option = option;
	if (opt.metrics && opt.metrics != which)
		return fail(USAGE, "--prom and --openmetrics are two formats, and one is possible");
	opt.metrics = which;

	return DONE;
}

static int read_output(const char *path)
{
	stats_option = "--output";
	opt.output = path;

	return path[0] ? DONE : fail(USAGE, "-o needs the name of a file");
}

static void print_version(void)
{
	if (opt.json)
		puts("{\n  \"schema\": 1,\n  \"version\": \"" KVMYIELD_VERSION "\"\n}");
	else
		puts("kvmyield " KVMYIELD_VERSION);
}

static int run(int argc, char **argv)
{
	bool help = false, version = false;
	int status = DONE;
	int c;

	opterr = 0;
	/* All options are read first, so that -j holds for any error. */
	while ((c = getopt_long(argc, argv, short_options, long_options,
				NULL)) != -1) {
		switch (c) {
		case 'j': opt.json = true; break;
		case 'q': opt.quiet = true; break;
		case 'v': opt.verbose = true; break;
		case 'f': opt.force = true; break;
		case 'h': help = true; break;
		case 'V': version = true; break;
		case 'o': status = read_output(optarg) ?: status; break;
		case OPT_VM: status = read_vm(optarg) ?: status; break;
		case OPT_WATCH: status = read_interval(optarg) ?: status; break;
		case OPT_COUNT: status = read_count(optarg) ?: status; break;
		case OPT_PROM: status = read_metrics(METRICS_PROM, "--prom") ?: status; break;
		case OPT_OPENMETRICS: status = read_metrics(METRICS_OPEN, "--openmetrics") ?: status; break;
		default: status = bad_option(argv); break;
		}
	}
	if (status)
		return status;
	if (version) {
		print_version();
		return DONE;
	}
	argc -= optind;
	argv += optind;
	if (help)
		return do_help(argc ? 1 : 0, argv, NULL);
	if (!argc) {
		hint("kvmyield help");
		return fail(USAGE, "a verb is missing");
	}

	return run_verb(argc, argv);
}

int main(int argc, char **argv)
{
	int status = run(argc, argv);

	error_print(status);
	if (fflush(stdout) || ferror(stdout)) {
		fputs("kvmyield: the output could not be written\n", stderr);
		return status ? status : REFUSED;
	}

	return status;
}
