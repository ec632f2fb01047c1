/* SPDX-License-Identifier: GPL-2.0 */
/* Statistics for few and heavy-tailed values; no I/O in here. */
#ifndef KVMYIELD_STATS_H
#define KVMYIELD_STATS_H

#include <stdbool.h>
#include <stddef.h>

/* More rounds than this would make millions of averages of pairs. */
#define STATS_MAX_PAIRS		4096

/* With fewer values no interval of these kinds reaches 95 %. */
#define STATS_MIN_INTERVAL	6

/**
 * struct stats_estimate - a value and its 95 % interval
 * @value: the estimate; NaN if there were no values
 * @low: lower end of the interval; NaN without one
 * @high: upper end
 * @n: how many values it comes from
 */
struct stats_estimate {
	double	value;
	double	low;
	double	high;
	size_t	n;
};

bool stats_has_interval(const struct stats_estimate *e);

/**
 * stats_median - the median, with an interval made of order statistics
 * @x: values, in any order
 * @n: how many
 * @e: receives the estimate
 *
 * The interval holds for any distribution, and is as wide as its tails make
 * it: how many of n values lie below the median is a matter of coin tosses.
 *
 * Return: 0, or -ENOMEM.
 */
int stats_median(const double *x, size_t n, struct stats_estimate *e);

/**
 * stats_ratio - how many times as large as base are the values, in pairs
 * @x: values, all positive
 * @base: what each is compared to, all positive
 * @n: how many pairs, at most STATS_MAX_PAIRS
 * @e: receives the estimate
 *
 * Hodges and Lehmann's estimate on the logarithms of the pairs' ratios: the
 * median of the averages of any two. Its interval inverts Wilcoxon's signed-rank
 * test, and is exact if the log-ratios are symmetric about the true one: as they
 * are if one side is the other scaled, however long the tails. Nothing is drawn
 * by chance: the same data give the same result.
 *
 * Return: 0, -ENOMEM, or -E2BIG.
 */
int stats_ratio(const double *x, const double *base, size_t n,
		struct stats_estimate *e);

/**
 * stats_differs - does the interval of a ratio exclude 1?
 * @ratio: the ratio
 *
 * Return: -1 below 1, 1 above, 0 neither or no interval.
 */
int stats_differs(const struct stats_estimate *ratio);

/* Exposed to the tests: how many values the interval leaves out at either end. */
size_t stats_sign_cut(size_t n);
size_t stats_signed_rank_cut(size_t n);

#endif /* KVMYIELD_STATS_H */
