// SPDX-License-Identifier: GPL-2.0
/* Reads measured rounds, and pairs the arms of each. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "rounds.h"

#define BLANKS	" \t\r\n"

struct reader {
	const char	*name;
	size_t		line;
	char		*error;
	size_t		size;
};

__attribute__((format(printf, 2, 3)))
static int wrong(const struct reader *in, const char *format, ...)
{
	int len = snprintf(in->error, in->size, "%s: line %zu: ", in->name,
			   in->line);
	va_list args;

	va_start(args, format);
	if (len >= 0 && (size_t)len < in->size)
		vsnprintf(in->error + len, in->size - len, format, args);
	va_end(args);

	return -1;
}

/* Names go to a terminal. */
static bool is_name(const char *s)
{
	size_t len = strlen(s);

	if (!len || len >= ROUNDS_ARM_LEN)
		return false;
	for (; *s; s++) {
		if (!isgraph((unsigned char)*s))
			return false;
	}

	return true;
}

int rounds_find_arm(const struct rounds *r, const char *name)
{
	size_t i;

	for (i = 0; i < r->nr_arms; i++) {
		if (!strcmp(r->arms[i], name))
			return i;
	}

	return -1;
}

static int need_arm(const struct reader *in, struct rounds *r, const char *name)
{
	int arm = rounds_find_arm(r, name);

	if (arm >= 0)
		return arm;
	if (!is_name(name))
		return wrong(in, "the arm's name is not one of 1 to %d printable characters",
			     ROUNDS_ARM_LEN - 1);
	if (r->nr_arms == ROUNDS_MAX_ARMS)
		return wrong(in, "there are more than %d arms", ROUNDS_MAX_ARMS);

	strcpy(r->arms[r->nr_arms], name);

	return r->nr_arms++;
}

static int grow(struct rounds *r)
{
	size_t room = r->room ? r->room * 2 : 64;
	unsigned long *numbers;
	double (*values)[ROUNDS_MAX_ARMS];

	numbers = realloc(r->numbers, room * sizeof(*numbers));
	if (!numbers)
		return -1;
	r->numbers = numbers;
	values = realloc(r->values, room * sizeof(*values));
	if (!values)
		return -1;
	r->values = values;
	r->room = room;

	return 0;
}

static int need_round(const struct reader *in, struct rounds *r,
		      unsigned long number)
{
	size_t i;

	/* The last one first: lines of one round stand together. */
	for (i = r->nr; i-- > 0;) {
		if (r->numbers[i] == number)
			return i;
	}
	if (r->nr == STATS_MAX_PAIRS)
		return wrong(in, "there are more than %d rounds", STATS_MAX_PAIRS);
	if (r->nr == r->room && grow(r))
		return wrong(in, "out of memory");

	r->numbers[r->nr] = number;
	for (i = 0; i < ROUNDS_MAX_ARMS; i++)
		r->values[r->nr][i] = NAN;

	return r->nr++;
}

static int read_line(const struct reader *in, struct rounds *r, char *line)
{
	char *number, *name, *value, *rest, *end;
	unsigned long n;
	int arm, round;
	double x;

	number = strtok_r(line, BLANKS, &rest);
	if (!number || *number == '#')
		return 0;
	name = strtok_r(NULL, BLANKS, &rest);
	value = strtok_r(NULL, BLANKS, &rest);
	if (!value || strtok_r(NULL, BLANKS, &rest))
		return wrong(in, "it is not of the form ROUND ARM VALUE");

	errno = 0;
	n = strtoul(number, &end, 10);
	if (!isdigit((unsigned char)*number) || *end || errno)
		return wrong(in, "the round is not a whole number");

	x = strtod(value, &end);
	if (*end || !isfinite(x) || x <= 0)
		return wrong(in, "the value is not a number above 0");

	arm = need_arm(in, r, name);
	if (arm < 0)
		return -1;
	round = need_round(in, r, n);
	if (round < 0)
		return -1;
	if (!isnan(r->values[round][arm]))
		return wrong(in, "round %lu has a value for %s already", n, name);
	r->values[round][arm] = x;

	return 0;
}

int rounds_read(FILE *in, const char *name, struct rounds *r, char *error,
		size_t size)
{
	struct reader reader = { name, 0, error, size };
	char *line = NULL;
	size_t room = 0;
	ssize_t len;
	int ret = 0;

	*r = (struct rounds) { };
	*error = '\0';
	while (!ret && (len = getline(&line, &room, in)) >= 0) {
		reader.line++;
		if (strlen(line) != (size_t)len)
			ret = wrong(&reader, "it is not text");
		else
			ret = read_line(&reader, r, line);
	}
	free(line);

	if (!ret && ferror(in)) {
		snprintf(error, size, "%s cannot be read", name);
		ret = -1;
	} else if (!ret && !r->nr) {
		snprintf(error, size, "%s has no line ROUND ARM VALUE", name);
		ret = -1;
	}

	return ret;
}

void rounds_free(struct rounds *r)
{
	free(r->numbers);
	free(r->values);
	*r = (struct rounds) { };
}

int rounds_arm(const struct rounds *r, int arm, int baseline,
	       struct rounds_arm *out)
{
	double *all, *x, *base;
	size_t n = 0, pairs = 0, i;
	int ret;

	*out = (struct rounds_arm) { .name = r->arms[arm] };
	all = malloc(3 * (r->nr + 1) * sizeof(*all));
	if (!all)
		return -ENOMEM;
	x = all + r->nr;
	base = x + r->nr;

	for (i = 0; i < r->nr; i++) {
		if (isnan(r->values[i][arm]))
			continue;
		all[n++] = r->values[i][arm];
		if (isnan(r->values[i][baseline])) {
			out->alone++;
			continue;
		}
		x[pairs] = r->values[i][arm];
		base[pairs++] = r->values[i][baseline];
	}

	ret = stats_median(all, n, &out->median);
	if (!ret)
		ret = stats_ratio(x, base, pairs, &out->ratio);
	free(all);

	return ret;
}
