/* SPDX-License-Identifier: GPL-2.0 */
/* Measured rounds, "ROUND ARM VALUE" a line, and what they say about each arm. */
#ifndef KVMYIELD_ROUNDS_H
#define KVMYIELD_ROUNDS_H

#include <stdio.h>

#include "stats.h"

#define ROUNDS_ARM_LEN		64
#define ROUNDS_MAX_ARMS		32

/**
 * struct rounds - what was read
 * @arms: their names, in the order of their first line
 * @nr_arms: how many
 * @numbers: the rounds' numbers, in the order of their first line
 * @values: ROUNDS_MAX_ARMS for each round; NaN: no line for this arm
 * @nr: how many rounds
 * @room: for how many rounds there is room
 */
struct rounds {
	char		arms[ROUNDS_MAX_ARMS][ROUNDS_ARM_LEN];
	size_t		nr_arms;
	unsigned long	*numbers;
	double		(*values)[ROUNDS_MAX_ARMS];
	size_t		nr;
	size_t		room;
};

/**
 * struct rounds_arm - what the rounds say about one arm
 * @name: the arm
 * @median: of its values
 * @ratio: to the baseline, from the rounds that have both
 * @alone: how many of its rounds have no value of the baseline
 */
struct rounds_arm {
	const char		*name;
	struct stats_estimate	median;
	struct stats_estimate	ratio;
	size_t			alone;
};

/**
 * rounds_read - read lines "ROUND ARM VALUE"
 * @in: where from; empty lines and lines that begin with # are passed over
 * @name: what messages call it
 * @r: receives the rounds; rounds_free() in any case
 * @error: receives a sentence, with the number of the line, if one is wrong
 * @size: of @error
 *
 * Return: 0, or -1 with a sentence in @error.
 */
int rounds_read(FILE *in, const char *name, struct rounds *r, char *error,
		size_t size);
void rounds_free(struct rounds *r);

/* Index of an arm, or -1. */
int rounds_find_arm(const struct rounds *r, const char *name);

/**
 * rounds_arm - summarise one arm
 * @r: the rounds
 * @arm: its index
 * @baseline: index of the arm that it is compared to
 * @out: receives the summary; its name lives as long as @r
 *
 * Return: 0, or -ENOMEM.
 */
int rounds_arm(const struct rounds *r, int arm, int baseline,
	       struct rounds_arm *out);

#endif /* KVMYIELD_ROUNDS_H */
