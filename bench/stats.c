// SPDX-License-Identifier: GPL-2.0
/* Medians and ratios with distribution-free intervals; stats.h says which. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats.h"

/* Each end of a 95 % interval may miss so often. */
#define TAIL		0.025

/* Wilcoxon's distribution is counted up to here, and normal above. */
#define EXACT_RANKS	60

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double middle(const double *sorted, size_t n)
{
	return n % 2 ? sorted[n / 2] :
	       sorted[n / 2 - 1] + (sorted[n / 2] - sorted[n / 2 - 1]) / 2;
}

/*
 * The largest k with P(X < k) <= TAIL, X being how many of n tosses are heads.
 * The interval is from the k-th smallest to the k-th largest; 0: there is none.
 */
size_t stats_sign_cut(size_t n)
{
	double log_all = n * log(2), below = 0;
	size_t k;

	for (k = 0; k <= n; k++) {
		below += exp(lgamma(n + 1.0) - lgamma(k + 1.0) -
			     lgamma(n - k + 1.0) - log_all);
		if (below > TAIL)
			break;
	}

	return k;
}

/* By how many of the 2^n choices of signs the positive ranks add up to each sum. */
static size_t count_ranks(size_t n)
{
	double ways[EXACT_RANKS * (EXACT_RANKS + 1) / 2 + 1] = { 1 };
	double limit = ldexp(TAIL, n), below = 0;
	size_t top = 0, rank, sum;

	for (rank = 1; rank <= n; rank++) {
		top += rank;
		for (sum = top; sum >= rank; sum--)
			ways[sum] += ways[sum - rank];
	}

	for (sum = 0; sum <= top; sum++) {
		below += ways[sum];
		if (below > limit)
			break;
	}

	return sum;
}

/* The same for the signed-rank sum, and so for the n (n + 1) / 2 averages of pairs. */
size_t stats_signed_rank_cut(size_t n)
{
	double mean, deviation;

	if (n <= EXACT_RANKS)
		return count_ranks(n);

	mean = n * (n + 1.0) / 4;
	deviation = sqrt(n * (n + 1.0) * (2 * n + 1.0) / 24);

	return (size_t)floor(mean - 0.5 - 1.959964 * deviation) + 1;
}

static void fill(struct stats_estimate *e, const double *sorted, size_t count,
		 size_t cut, size_t n)
{
	*e = (struct stats_estimate) { NAN, NAN, NAN, n };
	if (!count)
		return;

	e->value = middle(sorted, count);
	if (cut) {
		e->low = sorted[cut - 1];
		e->high = sorted[count - cut];
	}
}

bool stats_has_interval(const struct stats_estimate *e)
{
	return !isnan(e->low) && !isnan(e->high);
}

int stats_median(const double *x, size_t n, struct stats_estimate *e)
{
	double *sorted = malloc((n ? n : 1) * sizeof(*sorted));

	if (!sorted)
		return -ENOMEM;

	if (n)
		memcpy(sorted, x, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), compare);
	fill(e, sorted, n, stats_sign_cut(n), n);
	free(sorted);

	return 0;
}

static void back_from_logs(struct stats_estimate *e)
{
	e->value = exp(e->value);
	e->low = exp(e->low);
	e->high = exp(e->high);
}

int stats_ratio(const double *x, const double *base, size_t n,
		struct stats_estimate *e)
{
	size_t count = n * (n + 1) / 2, i, j, k = 0;
	double *logs, *averages;
	int ret = -ENOMEM;

	if (n > STATS_MAX_PAIRS)
		return -E2BIG;

	logs = malloc((n + 1) * sizeof(*logs));
	averages = malloc((count + 1) * sizeof(*averages));
	if (!logs || !averages)
		goto out;

	for (i = 0; i < n; i++) {
		/* Not log(x / base), which may leave the range of a double. */
		logs[i] = log(x[i]) - log(base[i]);
		for (j = 0; j <= i; j++)
			averages[k++] = (logs[i] + logs[j]) / 2;
	}
	qsort(averages, count, sizeof(*averages), compare);
	fill(e, averages, count, stats_signed_rank_cut(n), n);
	back_from_logs(e);
	ret = 0;
out:
	free(averages);
	free(logs);

	return ret;
}

int stats_differs(const struct stats_estimate *ratio)
{
	if (!stats_has_interval(ratio))
		return 0;

	return (ratio->low > 1) - (ratio->high < 1);
}
