// SPDX-License-Identifier: GPL-2.0
/* bench/stats.c and bench/rounds.c: known data, wrong data, and coverage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rounds.h"

#define SETS	500
#define ROUNDS	12

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fabs(b);
}

static void median_of_known_data(void **state)
{
	static const double odd[] = { 5, 1, 3 }, even[] = { 4, 1, 3, 2 };
	struct stats_estimate e;

	assert_int_equal(stats_median(odd, 3, &e), 0);
	assert_true(near(e.value, 3));
	assert_false(stats_has_interval(&e));

	assert_int_equal(stats_median(even, 4, &e), 0);
	assert_true(near(e.value, 2.5));
}

static void median_of_nothing(void **state)
{
	struct stats_estimate e;

	assert_int_equal(stats_median(NULL, 0, &e), 0);
	assert_true(isnan(e.value));
	assert_int_equal(e.n, 0);
	assert_false(stats_has_interval(&e));
}

/* Two-sided at 5 %: the published tables of the sign and the signed-rank test. */
static void cuts_agree_with_tables(void **state)
{
	static const struct { size_t n, sign, rank; } table[] = {
		{ 1, 0, 0 }, { 5, 0, 0 }, { 6, 1, 1 }, { 7, 1, 3 },
		{ 8, 1, 4 }, { 9, 2, 6 }, { 10, 2, 9 }, { 12, 3, 14 },
		{ 15, 4, 26 }, { 20, 6, 53 }, { 25, 8, 90 }, { 30, 10, 138 },
		{ 50, 18, 435 },
	};
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		assert_int_equal(stats_sign_cut(table[i].n), table[i].sign);
		assert_int_equal(stats_signed_rank_cut(table[i].n), table[i].rank);
	}
}

/* Where the exact count gives way to the normal one, nothing jumps. */
static void cuts_go_on_smoothly(void **state)
{
	size_t n, step, last = stats_signed_rank_cut(54);

	for (n = 55; n < 70; n++) {
		step = stats_signed_rank_cut(n) - last;
		assert_in_range(step, n / 2 - 12, n / 2);
		last += step;
	}
}

static void median_interval_is_order_statistics(void **state)
{
	double x[15];
	struct stats_estimate e;
	size_t i;

	/* 7 is coprime to 15: every value from 1 to 15 once, out of order. */
	for (i = 0; i < 15; i++)
		x[i] = i * 7 % 15 + 1;
	assert_int_equal(stats_median(x, 15, &e), 0);
	assert_true(near(e.value, 8));
	assert_true(near(e.low, 4));
	assert_true(near(e.high, 12));
}

static void ratio_of_scaled_values_is_the_scale(void **state)
{
	double x[8], base[8];
	struct stats_estimate e;
	size_t i;

	for (i = 0; i < 8; i++) {
		base[i] = 1 + i * i;
		x[i] = 1.5 * base[i];
	}
	assert_int_equal(stats_ratio(x, base, 8, &e), 0);
	assert_true(near(e.value, 1.5));
	assert_true(near(e.low, 1.5));
	assert_true(near(e.high, 1.5));
	assert_int_equal(stats_differs(&e), 1);

	assert_int_equal(stats_ratio(base, x, 8, &e), 0);
	assert_true(near(e.value, 1 / 1.5));
	assert_int_equal(stats_differs(&e), -1);
}

/* Log-ratios 1 to 6 (and 60 for the last): averages of two are known. */
static void ratio_of_known_data(void **state)
{
	static const double base[6] = { 1, 1, 1, 1, 1, 1 };
	double x[6];
	struct stats_estimate e;
	size_t i;

	for (i = 0; i < 6; i++)
		x[i] = exp(i + 1.0);
	assert_int_equal(stats_ratio(x, base, 6, &e), 0);
	assert_true(near(log(e.value), 3.5));
	assert_true(near(log(e.low), 1));
	assert_true(near(log(e.high), 6));

	/* One wild round moves the estimate by half a step. */
	x[5] = exp(60);
	assert_int_equal(stats_ratio(x, base, 6, &e), 0);
	assert_true(near(log(e.value), 3.5));
}

static void ties_are_no_difference(void **state)
{
	static const double x[8] = { 2, 2, 2, 2, 2, 2, 2, 2 };
	struct stats_estimate e;

	assert_int_equal(stats_median(x, 8, &e), 0);
	assert_true(near(e.value, 2));
	assert_true(near(e.low, 2));
	assert_true(near(e.high, 2));

	assert_int_equal(stats_ratio(x, x, 8, &e), 0);
	assert_true(near(e.value, 1));
	assert_int_equal(stats_differs(&e), 0);
}

static void single_pair_shows_nothing(void **state)
{
	static const double x = 3, base = 1;
	struct stats_estimate e;

	assert_int_equal(stats_ratio(&x, &base, 1, &e), 0);
	assert_true(near(e.value, 3));
	assert_false(stats_has_interval(&e));
	assert_int_equal(stats_differs(&e), 0);
}

static void ratio_of_no_pair(void **state)
{
	struct stats_estimate e;

	assert_int_equal(stats_ratio(NULL, NULL, 0, &e), 0);
	assert_true(isnan(e.value));
	assert_int_equal(stats_differs(&e), 0);
}

/* Where x / base is no double any more. */
static void extreme_values(void **state)
{
	double x[6], base[6];
	struct stats_estimate e;
	size_t i;

	for (i = 0; i < 6; i++) {
		x[i] = 1e-200;
		base[i] = 1e-200;
	}
	x[0] = 1e300;
	base[1] = 1e300;
	assert_int_equal(stats_ratio(x, base, 6, &e), 0);
	assert_true(near(e.value, 1));
	assert_int_equal(stats_differs(&e), 0);
	assert_int_not_equal(stats_ratio(x, base, STATS_MAX_PAIRS + 1, &e), 0);
}

static uint64_t seed;

/* splitmix64, in (0, 1) */
static double uniform(void)
{
	uint64_t z = seed += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	z ^= z >> 31;

	return ((z >> 11) + 0.5) / (1ULL << 53);
}

/* Student's t with two degrees of freedom: its variance is infinite. */
static double heavy(void)
{
	double u = 2 * uniform() - 1;

	return u * sqrt(2 / (1 - u * u));
}

/* A run of the lab: what slows a whole round, and heavy tails for each arm. */
static void simulate(double true_ratio, double *x, double *base)
{
	double round;
	size_t i;

	for (i = 0; i < ROUNDS; i++) {
		round = exp(heavy());
		base[i] = round * exp(0.3 * heavy());
		x[i] = round * true_ratio * exp(0.3 * heavy());
	}
}

/* 500 sets: 95 % is 475, and the spread of that by chance about 5. */
static void intervals_cover_the_truth(void **state)
{
	double x[ROUNDS], base[ROUNDS];
	struct stats_estimate ratio, median;
	int ratios = 0, medians = 0, set;

	seed = 20261130;
	for (set = 0; set < SETS; set++) {
		simulate(1.3, x, base);
		assert_int_equal(stats_ratio(x, base, ROUNDS, &ratio), 0);
		ratios += ratio.low <= 1.3 && 1.3 <= ratio.high;
		assert_int_equal(stats_median(base, ROUNDS, &median), 0);
		medians += median.low <= 1 && 1 <= median.high;
	}
	assert_in_range(ratios, 465, 490);
	assert_in_range(medians, 465, 492);
}

/* Two arms that are the same are called different about once in twenty times. */
static void equal_arms_are_rarely_called_different(void **state)
{
	double x[ROUNDS], base[ROUNDS];
	struct stats_estimate ratio;
	int different = 0, found = 0, set;

	seed = 41;
	for (set = 0; set < SETS; set++) {
		simulate(1, x, base);
		assert_int_equal(stats_ratio(x, base, ROUNDS, &ratio), 0);
		different += stats_differs(&ratio) != 0;
		simulate(3, x, base);
		assert_int_equal(stats_ratio(x, base, ROUNDS, &ratio), 0);
		found += stats_differs(&ratio) > 0;
	}
	assert_in_range(different, 10, 35);
	assert_true(found > 400);
}

static int read_bytes(const char *text, size_t len, struct rounds *r,
		      char error[256])
{
	FILE *in = len ? fmemopen((void *)text, len, "r") :
			 fopen("/dev/null", "r");
	int ret;

	assert_non_null(in);
	ret = rounds_read(in, "data", r, error, 256);
	fclose(in);

	return ret;
}

static int read_text(const char *text, struct rounds *r, char error[256])
{
	return read_bytes(text, strlen(text), r, error);
}

static void rounds_are_read(void **state)
{
	struct rounds_arm arm;
	struct rounds r;
	char error[256];

	assert_int_equal(read_text("# seed 7\n\n1 built-in 2\n1 never 4\r\n"
				   "\t2  never   1e1\n2 built-in 5", &r, error), 0);
	assert_string_equal(error, "");
	assert_int_equal(r.nr_arms, 2);
	assert_int_equal(r.nr, 2);
	assert_int_equal(rounds_find_arm(&r, "never"), 1);
	assert_int_equal(rounds_find_arm(&r, "nobody"), -1);

	assert_int_equal(rounds_arm(&r, 1, 0, &arm), 0);
	assert_string_equal(arm.name, "never");
	assert_true(near(arm.median.value, 7));
	assert_true(near(arm.ratio.value, 2));
	assert_int_equal(arm.ratio.n, 2);
	assert_int_equal(arm.alone, 0);
	rounds_free(&r);
}

static void a_missing_arm_is_left_out_of_the_ratio_only(void **state)
{
	struct rounds_arm arm;
	struct rounds r;
	char error[256];

	assert_int_equal(read_text("1 a 2\n1 b 4\n2 b 100\n3 a 3\n3 b 6\n4 a 9\n",
				   &r, error), 0);
	assert_int_equal(r.nr, 4);
	assert_int_equal(rounds_arm(&r, 1, 0, &arm), 0);
	assert_int_equal(arm.median.n, 3);
	assert_true(near(arm.median.value, 6));
	assert_int_equal(arm.ratio.n, 2);
	assert_true(near(arm.ratio.value, 2));
	assert_int_equal(arm.alone, 1);
	rounds_free(&r);
}

static void arms_without_a_common_round(void **state)
{
	struct rounds_arm arm;
	struct rounds r;
	char error[256];

	assert_int_equal(read_text("1 a 2\n2 b 4\n", &r, error), 0);
	assert_int_equal(rounds_arm(&r, 1, 0, &arm), 0);
	assert_int_equal(arm.ratio.n, 0);
	assert_true(isnan(arm.ratio.value));
	rounds_free(&r);
}

static void many_rounds(void **state)
{
	static char text[200000];
	struct rounds_arm arm;
	struct rounds r;
	char error[256];
	size_t len = 0;
	int i;

	for (i = 1; i <= STATS_MAX_PAIRS; i++)
		len += snprintf(text + len, sizeof(text) - len, "%d a %d\n%d b %d\n",
				i, i, i, 2 * i);
	assert_int_equal(read_bytes(text, len, &r, error), 0);
	assert_int_equal(rounds_arm(&r, 1, 0, &arm), 0);
	assert_true(near(arm.ratio.value, 2));
	rounds_free(&r);

	len += snprintf(text + len, sizeof(text) - len, "%d a 1\n", i);
	assert_int_equal(read_bytes(text, len, &r, error), -1);
	assert_non_null(strstr(error, "more than 4096 rounds"));
	rounds_free(&r);
}

static void wrong_lines_are_refused(void **state)
{
	static const struct { const char *text, *error; } wrong[] = {
		{ "1 a nan", "data: line 1: the value is not a number above 0" },
		{ "1 a 1\n1 b -2", "data: line 2: the value is not a number above 0" },
		{ "1 a 0", "data: line 1: the value is not a number above 0" },
		{ "1 a inf", "data: line 1: the value is not a number above 0" },
		{ "1 a 1e-999", "data: line 1: the value is not a number above 0" },
		{ "1 a 1e999", "data: line 1: the value is not a number above 0" },
		{ "1 a 2s", "data: line 1: the value is not a number above 0" },
		{ "1 a 2,5", "data: line 1: the value is not a number above 0" },
		{ "# x\n\n1 a", "data: line 3: it is not of the form ROUND ARM VALUE" },
		{ "1 a 2 3", "data: line 1: it is not of the form ROUND ARM VALUE" },
		{ "garbage", "data: line 1: it is not of the form ROUND ARM VALUE" },
		{ "x a 2", "data: line 1: the round is not a whole number" },
		{ "-1 a 2", "data: line 1: the round is not a whole number" },
		{ "1.5 a 2", "data: line 1: the round is not a whole number" },
		{ "99999999999999999999 a 2",
		  "data: line 1: the round is not a whole number" },
		{ "1 a\x1b[2J 2", "data: line 1: the arm's name is not one of 1 to 63 printable characters" },
		{ "1 a 2\n1 a 2", "data: line 2: round 1 has a value for a already" },
		{ "", "data has no line ROUND ARM VALUE" },
		{ "# nothing\n", "data has no line ROUND ARM VALUE" },
	};
	struct rounds r;
	char error[256];
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(read_text(wrong[i].text, &r, error), -1);
		assert_string_equal(error, wrong[i].error);
		rounds_free(&r);
	}

	assert_int_equal(read_bytes("1 a 2\n1 \0b 2\n", 13, &r, error), -1);
	assert_string_equal(error, "data: line 2: it is not text");
	rounds_free(&r);
}

static void names_and_arms_have_limits(void **state)
{
	char text[1024], error[256];
	struct rounds r;
	size_t len = 0;
	int i;

	snprintf(text, sizeof(text), "1 %0*d 2", ROUNDS_ARM_LEN, 0);
	assert_int_equal(read_text(text, &r, error), -1);
	rounds_free(&r);
	snprintf(text, sizeof(text), "1 %0*d 2", ROUNDS_ARM_LEN - 1, 0);
	assert_int_equal(read_text(text, &r, error), 0);
	rounds_free(&r);

	for (i = 0; i <= ROUNDS_MAX_ARMS; i++)
		len += snprintf(text + len, sizeof(text) - len, "1 arm%d 2\n", i);
	assert_int_equal(read_text(text, &r, error), -1);
	assert_string_equal(error, "data: line 33: there are more than 32 arms");
	rounds_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(median_of_known_data),
		cmocka_unit_test(median_of_nothing),
		cmocka_unit_test(cuts_agree_with_tables),
		cmocka_unit_test(cuts_go_on_smoothly),
		cmocka_unit_test(median_interval_is_order_statistics),
		cmocka_unit_test(ratio_of_scaled_values_is_the_scale),
		cmocka_unit_test(ratio_of_known_data),
		cmocka_unit_test(ties_are_no_difference),
		cmocka_unit_test(single_pair_shows_nothing),
		cmocka_unit_test(ratio_of_no_pair),
		cmocka_unit_test(extreme_values),
		cmocka_unit_test(intervals_cover_the_truth),
		cmocka_unit_test(equal_arms_are_rarely_called_different),
		cmocka_unit_test(rounds_are_read),
		cmocka_unit_test(a_missing_arm_is_left_out_of_the_ratio_only),
		cmocka_unit_test(arms_without_a_common_round),
		cmocka_unit_test(many_rounds),
		cmocka_unit_test(wrong_lines_are_refused),
		cmocka_unit_test(names_and_arms_have_limits),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);

	return cmocka_run_group_tests(tests, NULL, NULL);
}
