// SPDX-License-Identifier: GPL-2.0
/* kvmyield-summary: a table of what interleaved rounds say about each arm. */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "rounds.h"

struct options {
	const char	*unit;
	const char	*baseline;
	bool		lower_is_better;
	bool		json;
};

static const char usage_text[] =
	"usage: kvmyield-summary [OPTION...] [FILE]\n\n"
	"Reads lines \"ROUND ARM VALUE\" from FILE or standard input and prints, for\n"
	"each arm, the median and how it compares to the first arm. Empty lines and\n"
	"lines that begin with # are passed over.\n\n"
	"  -u, --unit UNIT        of the values, such as s\n"
	"  -l, --lower-is-better  call a smaller value better, a larger one worse\n"
	"  -b, --baseline ARM     compare to ARM, not to the first one\n"
	"  -j, --json             answer in JSON (with \"schema\": 1)\n"
	"  -h, --help             this text\n\n"
	"How it is computed: values of one round were measured side by side, so they\n"
	"are compared in pairs. The ratio is Hodges and Lehmann's estimate on the\n"
	"logarithms of the rounds' ratios (the median of the averages of any two of\n"
	"them), its 95 % interval that of Wilcoxon's signed-rank test: exact where the\n"
	"arms' values differ by a factor, and hardly moved by a few extreme rounds,\n"
	"unlike a mean. The interval of a median is made of order statistics, and holds\n"
	"for any distribution. Neither draws random numbers: the same data give the\n"
	"same answer. Below 6 rounds there is no interval. \"no difference shown\" means\n"
	"that the ratio's interval contains 1; it does not mean that the arms are equal.\n"
	"Each interval stands for itself: of 20 arms that differ in nothing, one would\n"
	"be called different.\n\n"
	"Exit status: 0 done, 1 wrong usage or wrong input.\n";

__attribute__((format(printf, 1, 2)))
static int fail(const char *format, ...)
{
	va_list args;

	fputs("kvmyield-summary: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);

	return 1;
}

static bool is_time(const char *unit)
{
	static const char * const units[] = { "s", "ms", "us", "ns", "min", "h" };
	size_t i;

	for (i = 0; unit && i < sizeof(units) / sizeof(units[0]); i++) {
		if (!strcmp(unit, units[i]))
			return true;
	}

	return false;
}

/* Three digits that count; exponents only where zeros would be many. */
static const char *number(char *buf, size_t size, double x)
{
	int digits = 2 - (int)floor(log10(x));

	if (x < 1e-6 || x >= 1e9)
		snprintf(buf, size, "%.2e", x);
	else
		snprintf(buf, size, "%.*f", digits < 0 ? 0 : digits, x);

	return buf;
}

static const char *interval(char *buf, size_t size, const struct stats_estimate *e)
{
	char low[32], high[32];

	if (stats_has_interval(e))
		snprintf(buf, size, "[%s, %s]", number(low, sizeof(low), e->low),
			 number(high, sizeof(high), e->high));
	else
		snprintf(buf, size, "-");

	return buf;
}

static const char *verdict(const struct rounds_arm *arm, const struct options *opt)
{
	int differs = stats_differs(&arm->ratio);

	if (!arm->ratio.n)
		return "no round in common";
	if (!stats_has_interval(&arm->ratio))
		return "too few rounds to tell";
	if (!differs)
		return "no difference shown";
	if (opt->lower_is_better)
		return differs < 0 ? "better" : "worse";
	if (is_time(opt->unit))
		return differs < 0 ? "shorter" : "longer";

	return differs < 0 ? "less" : "more";
}

/* Two digits that count, and more if an end that is not 1 would look like it. */
static int ratio_digits(const struct stats_estimate *e)
{
	int differs = stats_differs(e), digits = 2;
	double end = differs < 0 ? e->high : e->low;

	while (digits < 9 && e->value < pow(10, 1 - digits))
		digits++;
	while (differs && digits < 6 && fabs(end - 1) < 0.5 * pow(10, -digits))
		digits++;

	return digits;
}

static void words(char *buf, size_t size, const struct rounds_arm *arm,
		  const struct options *opt)
{
	const struct stats_estimate *e = &arm->ratio;
	const char *as = is_time(opt->unit) ? "as long" : "as much";
	int digits = ratio_digits(e);

	if (!e->n)
		snprintf(buf, size, "%s", verdict(arm, opt));
	else if (!stats_has_interval(e))
		snprintf(buf, size, "%.*f x %s: %s", digits, e->value, as,
			 verdict(arm, opt));
	else
		snprintf(buf, size, "%.*f x %s [%.*f, %.*f]: %s", digits, e->value,
			 as, digits, e->low, digits, e->high, verdict(arm, opt));
}

static void print_table(const struct rounds *r, const struct rounds_arm *arms,
			int baseline, const struct options *opt)
{
	char median[64], value[32], range[96], text[160];
	int width = 3;
	size_t i;

	for (i = 0; i < r->nr_arms; i++) {
		if ((int)strlen(arms[i].name) > width)
			width = strlen(arms[i].name);
	}

	snprintf(median, sizeof(median), "median%s%.16s", opt->unit ? " " : "",
		 opt->unit ? opt->unit : "");
	printf("%-*s  %4s  %10s  %-16s  against %s\n", width, "arm", "n", median,
	       "95 % interval", arms[baseline].name);
	for (i = 0; i < r->nr_arms; i++) {
		words(text, sizeof(text), &arms[i], opt);
		printf("%-*s  %4zu  %10s  %-16s  %s\n", width, arms[i].name,
		       arms[i].median.n,
		       number(value, sizeof(value), arms[i].median.value),
		       interval(range, sizeof(range), &arms[i].median),
		       (int)i == baseline ? "-" : text);
	}

	for (i = 0; i < r->nr_arms; i++) {
		if (arms[i].median.n < r->nr)
			printf("note: %s has no value in %zu of %zu rounds\n",
			       arms[i].name, r->nr - arms[i].median.n, r->nr);
		if (arms[i].alone)
			printf("note: the ratio of %s leaves out %zu rounds in which %s has no value\n",
			       arms[i].name, arms[i].alone, arms[baseline].name);
	}
}

static json_t *json_number(double x)
{
	return isfinite(x) ? json_real(x) : json_null();
}

static json_t *json_arm(const struct rounds_arm *arm, bool baseline,
			const struct options *opt)
{
	char text[160];

	words(text, sizeof(text), arm, opt);

	return json_pack("{s:s, s:i, s:o, s:o, s:o, s:i, s:o, s:o, s:o, s:s, s:s}",
			 "arm", arm->name,
			 "n", (int)arm->median.n,
			 "median", json_number(arm->median.value),
			 "median_low", json_number(arm->median.low),
			 "median_high", json_number(arm->median.high),
			 "pairs", (int)arm->ratio.n,
			 "ratio", json_number(arm->ratio.value),
			 "ratio_low", json_number(arm->ratio.low),
			 "ratio_high", json_number(arm->ratio.high),
			 "verdict", baseline ? "baseline" : verdict(arm, opt),
			 "text", baseline ? "baseline" : text);
}

static int print_json(const struct rounds *r, const struct rounds_arm *arms,
		      int baseline, const struct options *opt)
{
	json_t *list = json_array(), *out;
	int ret;
	size_t i;

	for (i = 0; i < r->nr_arms; i++)
		json_array_append_new(list, json_arm(&arms[i], (int)i == baseline,
						     opt));
	out = json_pack("{s:i, s:s?, s:b, s:f, s:s, s:i, s:o}",
			"schema", 1,
			"unit", opt->unit,
			"lower_is_better", opt->lower_is_better,
			"confidence", 0.95,
			"baseline", arms[baseline].name,
			"rounds", (int)r->nr,
			"arms", list);
	if (!out)
		return fail("the answer cannot be put into JSON: is a name not UTF-8?");

	ret = json_dumpf(out, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
	putchar('\n');
	json_decref(out);

	return ret ? fail("the answer cannot be written") : 0;
}

static int summarise(const struct rounds *r, const struct options *opt)
{
	struct rounds_arm arms[ROUNDS_MAX_ARMS];
	int baseline = 0;
	size_t i;

	if (opt->baseline)
		baseline = rounds_find_arm(r, opt->baseline);
	if (baseline < 0)
		return fail("there is no arm '%s' to compare to", opt->baseline);

	for (i = 0; i < r->nr_arms; i++) {
		if (rounds_arm(r, i, baseline, &arms[i]))
			return fail("out of memory");
	}
	if (opt->json)
		return print_json(r, arms, baseline, opt);
	print_table(r, arms, baseline, opt);

	return 0;
}

static int run(const char *path, const struct options *opt)
{
	const char *name = path ? path : "standard input";
	FILE *in = path ? fopen(path, "r") : stdin;
	struct rounds rounds;
	char error[512];
	int ret;

	if (!in)
		return fail("%s cannot be read: %s", path, strerror(errno));

	if (rounds_read(in, name, &rounds, error, sizeof(error)))
		ret = fail("%s", error);
	else
		ret = summarise(&rounds, opt);
	rounds_free(&rounds);
	if (path)
		fclose(in);
	if (!ret && (fflush(stdout) || ferror(stdout)))
		ret = fail("the answer cannot be written");

	return ret;
}

static const struct option long_options[] = {
	{ "unit",		required_argument, NULL, 'u' },
	{ "lower-is-better",	no_argument, NULL, 'l' },
	{ "baseline",		required_argument, NULL, 'b' },
	{ "json",		no_argument, NULL, 'j' },
	{ "help",		no_argument, NULL, 'h' },
	{ }
};

int main(int argc, char **argv)
{
	struct options opt = { };
	int c;

	while ((c = getopt_long(argc, argv, "u:lb:jh", long_options, NULL)) != -1) {
		switch (c) {
		case 'u': opt.unit = optarg; break;
		case 'l': opt.lower_is_better = true; break;
		case 'b': opt.baseline = optarg; break;
		case 'j': opt.json = true; break;
		case 'h': fputs(usage_text, stdout); return 0;
		default: return fail("see kvmyield-summary --help");
		}
	}
	if (argc - optind > 1)
		return fail("there is one FILE at most");

	return run(argv[optind], &opt);
}
