// SPDX-License-Identifier: GPL-2.0
/*
 * loader/stats_read.c and stats_prom.c: kernels that the lab does not have, and
 * files that no kernel writes.
 */
/* First: cmocka has a fail() of its own. */
#include "stats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NAME	16
#define ROUNDS	20000

struct options opt;

struct header {
	uint32_t	flags, name_size, num_desc, id_offset, desc_offset, data_offset;
};

struct desc {
	uint32_t	flags;
	int16_t		exponent;
	uint16_t	size;
	uint32_t	offset, bucket_size;
	char		name[NAME];
};

#define FLAGS(type, unit, base)	((type) | (unit) << 4 | (base) << 8)

/* The blocks in another order than Linux has them, with gaps, and the values in reverse. */
struct image {
	struct header	h;
	uint64_t	gap;
	uint64_t	data[16];
	struct desc	desc[5];
	char		id[NAME];
};

static const struct image good = {
	.h = { 0, NAME, 5, offsetof(struct image, id), offsetof(struct image, desc),
	       offsetof(struct image, data) },
	.data = { [0] = 1, 2, 3, 4, [6] = 1500, [7] = 7, [9] = 0, 5, 2, [15] = 3 },
	.desc = {
		{ FLAGS(KSTAT_CUMULATIVE, KSTAT_SECONDS, KSTAT_POW10), -9, 1, 6 * 8, 0, "wait_ns" },
		{ FLAGS(KSTAT_PEAK, KSTAT_NONE, KSTAT_POW10), 0, 1, 7 * 8, 0, "peak" },
		{ FLAGS(KSTAT_LOG_HIST, KSTAT_SECONDS, KSTAT_POW10), -9, 4, 0, 0, "log" },
		{ FLAGS(KSTAT_LINEAR_HIST, KSTAT_CYCLES, KSTAT_POW10), 0, 3, 9 * 8, 10, "linear" },
		{ FLAGS(KSTAT_INSTANT, KSTAT_BYTES, KSTAT_POW2), 10, 1, 15 * 8, 0, "memory" },
	},
	.id = "kvm-1",
};

static int file_of(const void *image, size_t len)
{
	int fd = memfd_create("stats", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, image, len), len);
	return fd;
}

static int read_image(struct kstats *s, const void *image, size_t len)
{
	int fd = file_of(image, len), status;

	error_forget();
	status = kstats_read(s, fd);
	close(fd);
	return status;
}

static void what_it_says_is_read(void **state)
{
	struct kstats s;
	const struct kstat *k;
	char unit[64];
	bool open;

	assert_int_equal(read_image(&s, &good, sizeof(good)), DONE);
	assert_string_equal(s.id, "kvm-1");
	assert_int_equal(s.n, 5);
	k = kstats_find(&s, "wait_ns", 3);
	assert_int_equal(k->value[0], 1500);
	assert_string_equal(kstat_unit_text(k, unit, sizeof(unit)), "ns");
	assert_string_equal(kstat_type_text(k), "cumulative");
	k = kstats_find(&s, "log", 2);
	assert_true(kstat_is_hist(k));
	assert_int_equal(k->value[3], 4);
	assert_int_equal(kstat_bucket_end(k, 0, &open), 1);
	assert_int_equal(kstat_bucket_end(k, 2, &open), 4);
	kstat_bucket_end(k, 3, &open);
	assert_true(open);
	k = kstats_find(&s, "linear", 3);
	assert_int_equal(k->value[2], 2);
	assert_int_equal(kstat_bucket_end(k, 1, &open), 20);
	k = kstats_find(&s, "memory", 4);
	assert_string_equal(kstat_unit_text(k, unit, sizeof(unit)), "KiB");
	assert_null(kstats_find(&s, "other", 1));
	kstats_free(&s);
}

/* @change: what is wrong; @says: part of the reason */
static void is_refused(struct image *image, size_t len, const char *says)
{
	struct kstats s;

	assert_int_equal(read_image(&s, image, len), REFUSED);
	if (!strstr(error_text(), says))
		fail_msg("'%s' does not say '%s'", error_text(), says);
	kstats_free(&s);
}

static void what_cannot_be_is_refused(void **state)
{
	struct image i = good;

	is_refused(&i, 0, "end too early");
	is_refused(&i, 23, "end too early");
	is_refused(&i, sizeof(i) - 1, "end too early");
	i.h.name_size = 0;
	is_refused(&i, sizeof(i), "names");
	i.h.name_size = 0xffffffff;
	is_refused(&i, sizeof(i), "names");
	i = good;
	i.h.num_desc = 0xffffffff;
	is_refused(&i, sizeof(i), "too many");
	i = good;
	i.h.desc_offset = 0xffffffff;
	is_refused(&i, sizeof(i), "end too early");
	i = good;
	i.desc[1].offset = 0xfffffff8;
	is_refused(&i, sizeof(i), "out of bounds");
	i = good;
	i.desc[1].offset = 4096;
	is_refused(&i, sizeof(i), "end too early");
	i = good;
	i.desc[1].size = 0;
	is_refused(&i, sizeof(i), "no value");
	i = good;
	i.desc[1].name[0] = 0;
	is_refused(&i, sizeof(i), "no name");
}

/* A later kernel: more types, units, bases; a name that fills its room and has a control character. */
static void what_is_not_known_is_shown(void **state)
{
	struct image i = good;
	struct kstats s;
	char unit[64];

	i.desc[0].flags = FLAGS(9, 11, 7);
	memset(i.desc[0].name, 'x', NAME);
	i.desc[0].name[1] = '\033';
	assert_int_equal(read_image(&s, &i, sizeof(i)), DONE);
	assert_int_equal(strlen(s.stat[0].name), NAME);
	assert_int_equal(s.stat[0].name[1], '?');
	assert_string_equal(kstat_type_text(&s.stat[0]), "unknown");
	assert_string_equal(kstat_unit_text(&s.stat[0], unit, sizeof(unit)),
			    "(base 7)^-9 (unit 11)");
	kstats_free(&s);
}

/* Under address and undefined behaviour sanitizers: whatever it says, nothing out of bounds. */
static void any_bytes_are_safe(void **state)
{
	unsigned int seed = 1, good_ones = 0;
	struct image i;
	struct kstats s;
	char unit[64];
	int n, k;

	for (n = 0; n < ROUNDS; n++) {
		i = good;
		for (k = rand_r(&seed) % 8; k >= 0; k--)
			((unsigned char *)&i)[rand_r(&seed) % sizeof(i)] = rand_r(&seed);
		if (!read_image(&s, &i, rand_r(&seed) % 4 ? sizeof(i) :
				rand_r(&seed) % sizeof(i))) {
			good_ones++;
			for (k = 0; k < (int)s.n; k++)
				kstat_unit_text(&s.stat[k], unit, sizeof(unit));
		}
		kstats_free(&s);
	}
	assert_in_range(good_ones, ROUNDS / 20, ROUNDS - ROUNDS / 20);
}

/* A VMM named as nobody should name it, with one VM of these statistics. */
static char *metrics(bool openmetrics)
{
	struct vmm vmm = { .pid = 42, .name = "a\"b\\c\xff", .nr_vms = 1 };
	struct vmms all = { .vmm = &vmm, .n = 1 };
	struct kstats s;
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	assert_int_equal(read_image(&s, &good, sizeof(good)), DONE);
	vmm.vm = &s;
	assert_int_equal(vmms_prom(&all, "two_pass", openmetrics, f), DONE);
	fclose(f);
	kstats_free(&s);
	return text;
}

static void has(const char *text, const char *line)
{
	const char *at = strstr(text, line);

	if (!at || (at > text && at[-1] != '\n'))
		fail_msg("there is no line '%s' in\n%s", line, text);
}

static void metrics_are_in_base_units(void **state)
{
	char *text = metrics(false);

#define LABELS	"{pid=\"42\",name=\"a\\\"b\\\\c?\""
	has(text, "kvm_vm_wait_seconds_total" LABELS "} 0.000001500\n");
	has(text, "# TYPE kvm_vm_wait_seconds_total counter\n");
	has(text, "kvm_vm_peak" LABELS "} 7\n");
	has(text, "kvm_vm_memory_bytes" LABELS "} 3072\n");
	/* Up to and with: 0; 1; 2 and 3; 4 and more. */
	has(text, "kvm_vm_log_seconds_bucket" LABELS ",le=\"0.000000000\"} 1\n");
	has(text, "kvm_vm_log_seconds_bucket" LABELS ",le=\"0.000000001\"} 3\n");
	has(text, "kvm_vm_log_seconds_bucket" LABELS ",le=\"0.000000003\"} 6\n");
	has(text, "kvm_vm_log_seconds_bucket" LABELS ",le=\"+Inf\"} 10\n");
	has(text, "kvm_vm_log_seconds_count" LABELS "} 10\n");
	has(text, "kvm_vm_linear_cycles_bucket" LABELS ",le=\"19\"} 5\n");
	has(text, "kvm_process_vms" LABELS ",policy=\"two_pass\"} 1\n");
	assert_null(strstr(text, "# EOF"));
	free(text);
	text = metrics(true);
	has(text, "# TYPE kvm_vm_wait_seconds counter\n");
	has(text, "# UNIT kvm_vm_wait_seconds seconds\n");
	has(text, "kvm_vm_wait_seconds_total" LABELS "} 0.000001500\n");
	has(text, "kvm_vm_linear_cycles_bucket" LABELS ",le=\"19.0\"} 5\n");
	assert_null(strstr(text, "_count"));
	assert_string_equal(text + strlen(text) - 6, "# EOF\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_it_says_is_read),
		cmocka_unit_test(what_cannot_be_is_refused),
		cmocka_unit_test(what_is_not_known_is_shown),
		cmocka_unit_test(any_bytes_are_safe),
		cmocka_unit_test(metrics_are_in_base_units),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
