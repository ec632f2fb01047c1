// SPDX-License-Identifier: GPL-2.0
/*
 * kvmyield stats --prom and --openmetrics: for Prometheus, by way of
 * node_exporter's textfile collector or of a server of one's own.
 *
 * All samples of a metric stand together, as both formats ask, and values are in
 * base units. KVM's histograms have no sums, so that there are none here.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "stats.h"

#define METRIC_LEN	256

/**
 * struct writer - where to, and how
 * @to: receives the text
 * @all: the processes
 * @openmetrics: OpenMetrics 1.0; otherwise Prometheus' text format 0.0.4
 */
struct writer {
	FILE			*to;
	const struct vmms	*all;
	bool			openmetrics;
};

/* The statistics of VMs, and those of vCPUs, are two sets of metrics. */
struct scope {
	const char	*prefix;
	const char	*owner;
	bool		vcpu;
};

static const struct scope scopes[] = {
	{ "kvm_vm_",	"a VM",		false },
	{ "kvm_vcpu_",	"a vCPU",	true },
};

static size_t nr_of(const struct vmm *vmm, const struct scope *sc)
{
	return sc->vcpu ? (vmm->vcpu ? vmm->nr_vcpus : 0) :
			  (vmm->vm ? vmm->nr_vms : 0);
}

static const struct kstats *stats_of(const struct vmm *vmm,
				     const struct scope *sc, size_t i)
{
	return sc->vcpu ? &vmm->vcpu[i] : &vmm->vm[i];
}

static const char *unit_suffix(const struct kstat *k)
{
	switch (k->unit) {
	case KSTAT_BYTES:
		return "_bytes";
	case KSTAT_SECONDS:
		return "_seconds";
	case KSTAT_CYCLES:
		return "_cycles";
	default:
		return "";
	}
}

static bool ends_in(const char *s, const char *end)
{
	size_t ls = strlen(s), le = strlen(end);

	return ls > le && !strcmp(s + ls - le, end);
}

/* Of the name's own unit only what the suffix does not say better. */
static void cut_unit(char *name, const struct kstat *k)
{
	static const char *const said[] = { "_ns", "_us", "_ms", "_total" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(said); i++) {
		if (ends_in(name, said[i]) &&
		    (i == ARRAY_SIZE(said) - 1 || k->unit == KSTAT_SECONDS))
			name[strlen(name) - strlen(said[i])] = '\0';
	}
	if (unit_suffix(k)[0] && ends_in(name, unit_suffix(k)))
		name[strlen(name) - strlen(unit_suffix(k))] = '\0';
}

static void metric_name(char *name, const struct scope *sc, const struct kstat *k)
{
	char *c;

	snprintf(name, METRIC_LEN, "%s%.200s", sc->prefix, k->name);
	for (c = name; *c; c++) {
		if (!isascii((unsigned char)*c) || !isalnum((unsigned char)*c))
			*c = '_';
	}
	cut_unit(name, k);
	strcat(name, unit_suffix(k));
}

static bool is_counter(const struct kstat *k)
{
	return k->type == KSTAT_CUMULATIVE;
}

static const char *metric_type(const struct kstat *k)
{
	if (kstat_is_hist(k))
		return "histogram";

	return is_counter(k) ? "counter" : "gauge";
}

/* Exact where it can be: a whole number, or one with a point in it. */
static void value_text(char *text, size_t len, __u64 value, const struct kstat *k)
{
	double scale = 1;
	int i, digits = -k->exponent;
	__u64 unit = 1;

	if (!k->exponent) {
		snprintf(text, len, "%llu", value);
		return;
	}
	if (k->base == KSTAT_POW10 && digits > 0 && digits <= 18) {
		for (i = 0; i < digits; i++)
			unit *= 10;
		snprintf(text, len, "%llu.%0*llu", value / unit, digits,
			 value % unit);
		return;
	}
	if (k->base == KSTAT_POW2 && k->exponent > 0 && k->exponent < 63 &&
	    value <= UINT64_MAX >> k->exponent) {
		snprintf(text, len, "%llu", value << k->exponent);
		return;
	}
	for (i = 0; i < abs(k->exponent) && i < 2048; i++)
		scale *= k->base == KSTAT_POW2 ? 2 : 10;
	snprintf(text, len, "%.17g", k->exponent < 0 ? value / scale : value * scale);
}

static void put_label(FILE *to, const char *text)
{
	for (; *text; text++) {
		if (*text == '\\' || *text == '"')
			fputc('\\', to);
		/* The formats are UTF-8, and a name can be anything. */
		fputc((unsigned char)*text < 0x80 ? *text : '?', to);
	}
}

/* The labels, without the last bracket. */
static void put_labels(FILE *to, const struct vmm *vmm, const struct scope *sc,
		       size_t i)
{
	fprintf(to, "{pid=\"%d\",name=\"", vmm->pid);
	put_label(to, vmm->name);
	fputc('"', to);
	if (sc && sc->vcpu && vmm->nr_vms > 1)
		fprintf(to, ",nr=\"%zu\"", i);
	if (sc && sc->vcpu)
		fprintf(to, ",vcpu=\"%d\"", vmm->vcpu_id[i]);
	else if (sc && vmm->nr_vms > 1)
		fprintf(to, ",nr=\"%zu\"", i);
}

static void put_hist(struct writer *w, const char *name, const struct kstat *k,
		     const struct vmm *vmm, const struct scope *sc, size_t i)
{
	__u64 count = 0, end;
	unsigned int bucket;
	char le[64];
	bool open;

	for (bucket = 0; bucket < k->size; bucket++) {
		count += k->value[bucket];
		end = kstat_bucket_end(k, bucket, &open);
		/* Up to and with, of whole numbers. */
		if (open)
			snprintf(le, sizeof(le), "+Inf");
		else
			value_text(le, sizeof(le), end - 1, k);
		/* A logarithmic one of more than 64 buckets says it once. */
		if (open && bucket + 1 < k->size)
			continue;
		fprintf(w->to, "%s_bucket", name);
		put_labels(w->to, vmm, sc, i);
		fprintf(w->to, ",le=\"%s%s\"} %llu\n", le,
			w->openmetrics && !open && !strchr(le, '.') ? ".0" : "",
			count);
	}
	/* In OpenMetrics there is no count without a sum. */
	if (w->openmetrics)
		return;
	fprintf(w->to, "%s_count", name);
	put_labels(w->to, vmm, sc, i);
	fprintf(w->to, "} %llu\n", count);
}

static void put_value(struct writer *w, const char *name, const struct kstat *k,
		      const struct vmm *vmm, const struct scope *sc, size_t i)
{
	unsigned int v;
	char text[400];

	for (v = 0; v < k->size; v++) {
		fprintf(w->to, "%s%s", name, is_counter(k) ? "_total" : "");
		put_labels(w->to, vmm, sc, i);
		if (k->size > 1)
			fprintf(w->to, ",value=\"%u\"", v);
		value_text(text, sizeof(text), k->value[v], k);
		fprintf(w->to, "} %s\n", text);
	}
}

static void put_head(struct writer *w, const char *name, const struct kstat *k,
		     const struct scope *sc)
{
	const char *total = is_counter(k) && !w->openmetrics ? "_total" : "";
	const char *unit = unit_suffix(k);

	fprintf(w->to, "# HELP %s%s KVM's statistic ", name, total);
	put_label(w->to, k->name);
	fprintf(w->to, " of %s\n# TYPE %s%s %s\n", sc->owner, name, total,
		metric_type(k));
	if (w->openmetrics && unit[0])
		fprintf(w->to, "# UNIT %s %s\n", name, unit + 1);
}

static void put_family(struct writer *w, const char *name, const struct kstat *k,
		       size_t near, const struct scope *sc)
{
	const struct kstat *found;
	size_t p, i;

	put_head(w, name, k, sc);
	for (p = 0; p < w->all->n; p++) {
		const struct vmm *vmm = &w->all->vmm[p];

		for (i = 0; i < nr_of(vmm, sc); i++) {
			found = kstats_find(stats_of(vmm, sc, i), k->name, near);
			if (!found || !kstat_same_kind(found, k))
				continue;
			if (kstat_is_hist(k))
				put_hist(w, name, found, vmm, sc, i);
			else
				put_value(w, name, found, vmm, sc, i);
		}
	}
}

/* Two statistics that differ only in what a metric's name cannot have: the second gets a number. */
static void put_families(struct writer *w, const struct kstats *s,
			 const struct scope *sc)
{
	char (*names)[METRIC_LEN + 24];
	size_t i, j;

	names = calloc(s->n + 1, sizeof(*names));
	if (!names) {
		fail(REFUSED, "out of memory");
		return;
	}
	for (i = 0; i < s->n; i++) {
		metric_name(names[i], sc, &s->stat[i]);
		for (j = 0; j < i; j++) {
			if (strcmp(names[i], names[j]))
				continue;
			snprintf(names[i] + strlen(names[i]), 24, "_%zu", i);
			break;
		}
		put_family(w, names[i], &s->stat[i], i, sc);
	}
	free(names);
}

/* One kernel has one list of statistics: any VM's will do. */
static const struct kstats *any(const struct vmms *all, const struct scope *sc)
{
	size_t p;

	for (p = 0; p < all->n; p++) {
		if (nr_of(&all->vmm[p], sc))
			return stats_of(&all->vmm[p], sc, 0);
	}

	return NULL;
}

static void put_info(struct writer *w, const char *policy)
{
	size_t p;

	fputs("# HELP kvm_process_vms VMs of a process, with the policy that decides for their vCPUs\n"
	      "# TYPE kvm_process_vms gauge\n", w->to);
	for (p = 0; p < w->all->n; p++) {
		fputs("kvm_process_vms", w->to);
		put_labels(w->to, &w->all->vmm[p], NULL, 0);
		fputs(",policy=\"", w->to);
		put_label(w->to, policy ? policy : "");
		fprintf(w->to, "\"} %zu\n", w->all->vmm[p].nr_vms);
	}
	fputs("# HELP kvm_process_vcpus vCPUs of a process\n"
	      "# TYPE kvm_process_vcpus gauge\n", w->to);
	for (p = 0; p < w->all->n; p++) {
		fputs("kvm_process_vcpus", w->to);
		put_labels(w->to, &w->all->vmm[p], NULL, 0);
		fprintf(w->to, "} %zu\n", w->all->vmm[p].nr_vcpus);
	}
}

/**
 * vmms_prom - write all statistics as metrics
 * @all: the processes, with their statistics
 * @policy: who decides for their vCPUs; NULL: not known
 * @openmetrics: in OpenMetrics 1.0, and not in Prometheus' own format 0.0.4
 * @to: receives them
 *
 * Return: an exit status
 */
int vmms_prom(const struct vmms *all, const char *policy, bool openmetrics,
	      FILE *to)
{
	struct writer w = { .to = to, .all = all, .openmetrics = openmetrics };
	const struct kstats *s;
	size_t i;

	put_info(&w, policy);
	for (i = 0; i < ARRAY_SIZE(scopes); i++) {
		s = any(all, &scopes[i]);
		if (s)
			put_families(&w, s, &scopes[i]);
	}
	if (openmetrics)
		fputs("# EOF\n", to);

	return error_status();
}
