// SPDX-License-Identifier: GPL-2.0
/* "Did you mean": the nearest word by edit distance. */
#include <string.h>

#include "kvmyield.h"

#define WORD_MAX	64

static int min3(int a, int b, int c)
{
	int m = a < b ? a : b;

	return m < c ? m : c;
}

/* Insertions, deletions, substitutions and swaps of neighbours cost 1 each. */
static int edit_distance(const char *a, const char *b)
{
	int d[WORD_MAX + 1][WORD_MAX + 1];
	int la = strlen(a), lb = strlen(b);
	int i, j;

	if (la > WORD_MAX || lb > WORD_MAX)
		return WORD_MAX;

	for (i = 0; i <= la; i++)
		d[i][0] = i;
	for (j = 0; j <= lb; j++)
		d[0][j] = j;

	for (i = 1; i <= la; i++) {
		for (j = 1; j <= lb; j++) {
			d[i][j] = min3(d[i - 1][j] + 1, d[i][j - 1] + 1,
				       d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < d[i][j])
				d[i][j] = d[i - 2][j - 2] + 1;
		}
	}

	return d[la][lb];
}

/**
 * nearest - the word that was probably meant
 * @word: what was written
 * @words: what could have been
 * @n: how many
 *
 * Return: one of @words, or NULL if none is near enough to be offered
 */
const char *nearest(const char *word, const char *const *words, size_t n)
{
	size_t len = strlen(word);
	const char *best = NULL;
	int best_distance, d;
	size_t i;

	best_distance = len < 3 ? 1 : len < 6 ? 2 : 3;
	for (i = 0; i < n; i++) {
		/* An abbreviation is meant, however much of it is missing. */
		d = len >= 3 && !strncmp(word, words[i], len) ?
			1 : edit_distance(word, words[i]);
		if (d > best_distance || (best && d == best_distance))
			continue;
		best = words[i];
		best_distance = d;
	}

	return best;
}
