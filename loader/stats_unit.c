// SPDX-License-Identifier: GPL-2.0
/* What a statistic's numbers mean: its unit, its type, the bounds of its buckets. */
#include <stdio.h>

#include "stats.h"

static const char *prefix_of(const struct kstat *k)
{
	static const char *const small[] = { "", "m", "u", "n", "p" };
	static const char *const large[] = { "", "k", "M", "G", "T" };
	static const char *const binary[] = { "", "Ki", "Mi", "Gi", "Ti" };

	if (k->base == KSTAT_POW10 && k->exponent % 3 == 0 &&
	    k->exponent >= -12 && k->exponent <= 12)
		return k->exponent < 0 ? small[-k->exponent / 3] :
					 large[k->exponent / 3];
	if (k->base == KSTAT_POW2 && k->exponent % 10 == 0 &&
	    k->exponent >= 0 && k->exponent <= 40)
		return binary[k->exponent / 10];

	return NULL;
}

/**
 * kstat_unit_text - the unit in which a statistic counts
 * @k: the statistic
 * @text: room for it
 * @len: how much
 *
 * Return: @text, such as "ns", "KiB", "2^12 B"; "" if it is a plain number
 */
const char *kstat_unit_text(const struct kstat *k, char *text, size_t len)
{
	static const char *const units[] = { "", "B", "s", "cycles", "bool" };
	const char *prefix = prefix_of(k), *unit;
	char other[24];

	if (k->unit < ARRAY_SIZE(units)) {
		unit = units[k->unit];
	} else {
		snprintf(other, sizeof(other), "(unit %u)", k->unit);
		unit = other;
	}
	/* Nobody says kilocycles, or a thousand nothings. */
	if (prefix && (!*prefix || k->unit == KSTAT_BYTES || k->unit == KSTAT_SECONDS))
		snprintf(text, len, "%s%s", prefix, unit);
	else if (k->base > KSTAT_POW2)
		snprintf(text, len, "(base %u)^%d %s", k->base, k->exponent, unit);
	else
		snprintf(text, len, "%d^%d%s%s", k->base == KSTAT_POW10 ? 10 : 2,
			 k->exponent, *unit ? " " : "", unit);

	return text;
}

const char *kstat_type_text(const struct kstat *k)
{
	static const char *const types[] = {
		"cumulative", "instant", "peak", "linear_hist", "log_hist",
	};

	return k->type < ARRAY_SIZE(types) ? types[k->type] : "unknown";
}

/**
 * kstat_bucket_end - where a bucket of a histogram ends
 * @k: a histogram
 * @bucket: its number, from 0
 * @open: set if it has no end, as the last
 *
 * Return: the first value that is no more in it; in the statistic's unit
 */
__u64 kstat_bucket_end(const struct kstat *k, unsigned int bucket, bool *open)
{
	*open = bucket + 1 >= k->size || (k->type == KSTAT_LOG_HIST && bucket > 63);
	if (*open)
		return 0;
	if (k->type == KSTAT_LOG_HIST)
		return 1ULL << bucket;

	return (__u64)k->bucket_size * (bucket + 1);
}
