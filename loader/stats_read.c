// SPDX-License-Identifier: GPL-2.0
/*
 * The binary format of KVM_GET_STATS_FD. Nothing of what the file says about
 * itself is believed before it is checked: the file comes from a process that
 * is not ours, and may be no file of KVM's at all.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stats.h"

struct header {
	__u32	flags;
	__u32	name_size;
	__u32	num_desc;
	__u32	id_offset;
	__u32	desc_offset;
	__u32	data_offset;
};

struct desc {
	__u32	flags;
	__s16	exponent;
	__u16	size;
	__u32	offset;
	__u32	bucket_size;
};

/* Far above what KVM has, and far below what would hurt. */
#define NAME_MAX_SIZE	4096
#define DESCS_MAX	65536
#define VALUES_MAX	(1 << 22)

static int malformed(const char *why)
{
	return fail(REFUSED, "the kernel's statistics cannot be understood: %s",
		    why);
}

static int read_at(int fd, void *to, size_t len, off_t at)
{
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		n = pread(fd, (char *)to + done, len - done, at + done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == ESPIPE)
			return fail(UNSUPPORTED, "this kernel's statistics can be read only once");
		if (n < 0)
			return fail(REFUSED, "the statistics cannot be read: %s",
				    strerror_plain(errno));
		if (!n)
			return malformed("they end too early");
		done += n;
	}

	return DONE;
}

static int check_header(const struct header *h)
{
	if (!h->name_size || h->name_size > NAME_MAX_SIZE)
		return malformed("the size of names is impossible");
	if (h->num_desc > DESCS_MAX)
		return malformed("there are too many of them");

	return DONE;
}

static int take_id(struct kstats *s, int fd, const struct header *h)
{
	s->id = calloc(1, h->name_size + 1);
	if (!s->id)
		return fail(REFUSED, "out of memory");
	if (read_at(fd, s->id, h->name_size, h->id_offset))
		return REFUSED;
	plain_text(s->id);

	return DONE;
}

/* One descriptor; how many values there are so far is kept in @values. */
static int take_desc(struct kstat *k, const struct desc *d, char *name,
		     size_t *values)
{
	k->name = plain_text(name);
	k->type = d->flags & 0xf;
	k->unit = d->flags >> 4 & 0xf;
	k->base = d->flags >> 8 & 0xf;
	k->exponent = d->exponent;
	k->size = d->size;
	k->bucket_size = d->bucket_size;
	if (!name[0])
		return malformed("one has no name");
	if (!d->size)
		return malformed("one has no value");
	*values += d->size;
	if (*values > VALUES_MAX)
		return malformed("there are too many values");

	return DONE;
}

/* The values, each where its descriptor says. They may be in any order, and have gaps. */
static int take_values(struct kstats *s, int fd, const struct header *h,
		       const char *descs, size_t each)
{
	__u64 *at = s->values, end = 0;
	struct desc d;
	char *data;
	size_t i;

	for (i = 0; i < s->n; i++) {
		memcpy(&d, descs + i * each, sizeof(d));
		if (d.offset + 8ULL * d.size > end)
			end = d.offset + 8ULL * d.size;
	}
	if (end > 8ULL * VALUES_MAX)
		return malformed("a value is out of bounds");
	data = malloc(end + 1);
	if (!data)
		return fail(REFUSED, "out of memory");
	/* In one piece, so that all are of one moment, as far as the kernel has one. */
	if (read_at(fd, data, end, h->data_offset)) {
		free(data);
		return REFUSED;
	}
	for (i = 0; i < s->n; i++) {
		memcpy(&d, descs + i * each, sizeof(d));
		s->stat[i].value = at;
		memcpy(at, data + d.offset, 8 * d.size);
		at += d.size;
	}
	free(data);

	return DONE;
}

static int take_descs(struct kstats *s, int fd, const struct header *h)
{
	size_t each = sizeof(struct desc) + h->name_size, i, values = 0;
	int status = REFUSED;
	struct desc d;
	char *descs, *name;

	descs = malloc(each * h->num_desc + 1);
	s->stat = calloc(h->num_desc + 1, sizeof(*s->stat));
	s->names = calloc(h->num_desc + 1, h->name_size + 1);
	if (!descs || !s->stat || !s->names) {
		fail(REFUSED, "out of memory");
		goto out;
	}
	if (read_at(fd, descs, each * h->num_desc, h->desc_offset))
		goto out;

	for (i = 0; i < h->num_desc; i++) {
		memcpy(&d, descs + i * each, sizeof(d));
		name = s->names + i * (h->name_size + 1);
		memcpy(name, descs + i * each + sizeof(d), h->name_size);
		if (take_desc(&s->stat[i], &d, name, &values))
			goto out;
	}
	s->n = h->num_desc;
	s->values = calloc(values + 1, sizeof(*s->values));
	if (!s->values)
		fail(REFUSED, "out of memory");
	else
		status = take_values(s, fd, h, descs, each);
out:
	free(descs);

	return status;
}

/**
 * kstats_read - read all statistics
 * @s: receives them; release with kstats_free(), also if this fails
 * @fd: what KVM_GET_STATS_FD returned; its position is left alone
 *
 * Return: an exit status
 */
int kstats_read(struct kstats *s, int fd)
{
	struct header h;
	int status;

	memset(s, 0, sizeof(*s));
	status = read_at(fd, &h, sizeof(h), 0);
	if (!status)
		status = check_header(&h);
	if (!status)
		status = take_id(s, fd, &h);
	if (!status)
		status = take_descs(s, fd, &h);
	if (status)
		s->n = 0;

	return status;
}

void kstats_free(struct kstats *s)
{
	free(s->id);
	free(s->stat);
	free(s->names);
	free(s->values);
	memset(s, 0, sizeof(*s));
}

/* The statistic of a name, which mostly is the one at the same place of another VM. */
const struct kstat *kstats_find(const struct kstats *s, const char *name,
				size_t near)
{
	size_t i;

	if (near < s->n && !strcmp(s->stat[near].name, name))
		return &s->stat[near];
	for (i = 0; i < s->n; i++) {
		if (!strcmp(s->stat[i].name, name))
			return &s->stat[i];
	}

	return NULL;
}

bool kstat_is_hist(const struct kstat *k)
{
	return k->type == KSTAT_LINEAR_HIST || k->type == KSTAT_LOG_HIST;
}

/* May their values be added, or subtracted? */
bool kstat_same_kind(const struct kstat *a, const struct kstat *b)
{
	return a->type == b->type && a->unit == b->unit && a->base == b->base &&
	       a->exponent == b->exponent && a->size == b->size &&
	       a->bucket_size == b->bucket_size;
}
