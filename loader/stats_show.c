// SPDX-License-Identifier: GPL-2.0
/* kvmyield stats, for people. */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "stats.h"

#define NAME_WIDTH	34
#define VALUE_WIDTH	14
/* Where nobody looks, there is room for eight vCPUs. */
#define FILE_WIDTH	(NAME_WIDTH + 10 * (VALUE_WIDTH + 1))

static size_t width(void)
{
	struct winsize ws;

	if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) ||
	    !ws.ws_col)
		return FILE_WIDTH;

	return ws.ws_col;
}

/**
 * vmms_show - list the processes that have VMs
 * @all: the processes
 * @policy: who decides for their vCPUs; NULL: not known
 */
void vmms_show(const struct vmms *all, const char *policy)
{
	size_t i, vms = 0, vcpus = 0;

	if (all->n)
		say("%8s %5s %6s  %-18s %s", "pid", "vms", "vcpus", "policy",
		    "name");
	for (i = 0; i < all->n; i++) {
		say("%8d %5zu %6zu  %-18s %s", all->vmm[i].pid,
		    all->vmm[i].nr_vms, all->vmm[i].nr_vcpus,
		    policy ? policy : "-", all->vmm[i].name);
		vms += all->vmm[i].nr_vms;
		vcpus += all->vmm[i].nr_vcpus;
	}
	if (all->n)
		say("%zu VM%s, %zu vCPUs, %zu process%s", vms, vms == 1 ? "" : "s",
		    vcpus, all->n, all->n == 1 ? "" : "es");
	else
		say("no VM%s", all->unseen ? " that this user may see" : "");
	if (all->unseen)
		say("%zu processes are not shown: this user may not look into them",
		    all->unseen);
}

/**
 * struct column - the values of one VM or vCPU, or their sum
 * @s: its statistics
 * @before: the same a while ago, or NULL
 */
struct column {
	const struct kstats	*s;
	const struct kstats	*before;
};

/**
 * struct table - what is shown of VMs, or of vCPUs
 * @column: all of them
 * @n: how many
 * @label: their names
 * @each: show each, and not only the sum
 * @seconds: since before; 0: there is no before
 */
struct table {
	struct column	*column;
	size_t		n;
	char		(*label)[32];
	bool		each;
	double		seconds;
};

static const struct kstat *at(const struct kstats *s, const struct kstat *k,
			      size_t near)
{
	const struct kstat *found = s ? kstats_find(s, k->name, near) : NULL;

	return found && kstat_same_kind(found, k) ? found : NULL;
}

/* Of what is no count, the sum says nothing. */
static bool can_add(const struct kstat *k)
{
	return k->type != KSTAT_PEAK && k->unit != KSTAT_BOOLEAN;
}

static __u64 sum(const struct table *t, size_t row, unsigned int value,
		 bool before)
{
	const struct kstat *k = &t->column[0].s->stat[row], *found;
	__u64 total = 0;
	size_t i;

	for (i = 0; i < t->n; i++) {
		found = at(before ? t->column[i].before : t->column[i].s, k, row);
		if (!found)
			continue;
		if (can_add(k))
			total += found->value[value];
		else if (found->value[value] > total)
			total = found->value[value];
	}

	return total;
}

static void show_rate(const struct table *t, size_t row, unsigned int value,
		      bool rate)
{
	__u64 now = sum(t, row, value, false), then = sum(t, row, value, true);

	if (t->seconds <= 0)
		return;
	if (rate && now >= then)
		printf(" %*.1f", VALUE_WIDTH, (now - then) / t->seconds);
	else
		printf(" %*s", VALUE_WIDTH, "");
}

static void show_row(const struct table *t, size_t row, unsigned int value,
		     const char *name, bool rate)
{
	const struct kstat *k = &t->column[0].s->stat[row], *found;
	size_t i;

	printf("%-*s %*llu", NAME_WIDTH, name, VALUE_WIDTH,
	       sum(t, row, value, false));
	show_rate(t, row, value, rate);
	for (i = 0; t->each && t->n > 1 && i < t->n; i++) {
		found = at(t->column[i].s, k, row);
		if (found)
			printf(" %*llu", VALUE_WIDTH, found->value[value]);
		else
			printf(" %*s", VALUE_WIDTH, "-");
	}
	putchar('\n');
}

static void show_hist(const struct table *t, size_t row)
{
	const struct kstat *k = &t->column[0].s->stat[row];
	char unit[64], name[160], from[32] = "0", to[32];
	unsigned int i;
	bool open, any = false;
	__u64 end;

	kstat_unit_text(k, unit, sizeof(unit));
	printf("%s, of so many %s:\n", k->name, unit[0] ? unit : "units");
	for (i = 0; i < k->size; i++) {
		end = kstat_bucket_end(k, i, &open);
		snprintf(to, sizeof(to), "%llu", end);
		if (sum(t, row, i, false)) {
			if (open)
				snprintf(name, sizeof(name), "  %s and more", from);
			else
				snprintf(name, sizeof(name), "  %s to below %s", from, to);
			show_row(t, row, i, name, true);
			any = true;
		}
		memcpy(from, to, sizeof(from));
	}
	if (!any)
		puts("  none");
}

static void show_values(const struct table *t, size_t row)
{
	const struct kstat *k = &t->column[0].s->stat[row];
	char unit[64], name[4200 + 80];
	unsigned int i;

	kstat_unit_text(k, unit, sizeof(unit));
	for (i = 0; i < k->size; i++) {
		snprintf(name, sizeof(name), "%s", k->name);
		if (k->size > 1)
			snprintf(name + strlen(name), 16, "[%u]", i);
		if (unit[0] && k->unit != KSTAT_BOOLEAN)
			snprintf(name + strlen(name), 70, " (%s)", unit);
		show_row(t, row, i, name, k->type == KSTAT_CUMULATIVE);
	}
}

/* On a screen that is drawn again and again there is room for what happens. */
static bool is_still(const struct table *t, size_t row)
{
	const struct kstat *k = &t->column[0].s->stat[row];
	unsigned int i;

	for (i = 0; i < k->size; i++)
		if (sum(t, row, i, false) != sum(t, row, i, true))
			return false;

	return true;
}

static void show_head(const struct table *t, const char *what)
{
	size_t i;

	printf("\n%-*s %*s", NAME_WIDTH, what, VALUE_WIDTH,
	       t->n > 1 ? "in all" : t->label[0]);
	if (t->seconds > 0)
		printf(" %*s", VALUE_WIDTH, "a second");
	for (i = 0; t->each && t->n > 1 && i < t->n; i++)
		printf(" %*s", VALUE_WIDTH, t->label[i]);
	putchar('\n');
}

static void show_table(const struct table *t, const char *what)
{
	size_t row, still = 0;

	if (!t->n)
		return;
	show_head(t, what);
	for (row = 0; row < t->column[0].s->n; row++) {
		if (t->seconds > 0 && !opt.verbose && is_still(t, row)) {
			still++;
			continue;
		}
		if (kstat_is_hist(&t->column[0].s->stat[row]))
			show_hist(t, row);
		else
			show_values(t, row);
	}
	if (still)
		printf("(%zu did not change; -v shows them)\n", still);
	if (!t->each && t->n > 1)
		printf("(-v shows each of the %zu by itself)\n", t->n);
}

static int make_table(struct table *t, size_t n, double seconds)
{
	memset(t, 0, sizeof(*t));
	t->column = calloc(n + 1, sizeof(*t->column));
	t->label = calloc(n + 1, sizeof(*t->label));
	if (!t->column || !t->label) {
		free(t->column);
		free(t->label);
		return -1;
	}
	t->n = n;
	t->seconds = seconds;
	t->each = opt.verbose || NAME_WIDTH + (n + 1 + (seconds > 0)) *
				 (VALUE_WIDTH + 1) <= width();

	return 0;
}

static void free_table(struct table *t)
{
	free(t->column);
	free(t->label);
}

static void show_vms(const struct vmm *vmm, const struct vmm *before,
		     double seconds)
{
	struct table t;
	size_t i;

	if (make_table(&t, vmm->nr_vms, seconds))
		return;
	for (i = 0; i < t.n; i++) {
		t.column[i].s = &vmm->vm[i];
		t.column[i].before = before && i < before->nr_vms ?
				     &before->vm[i] : NULL;
		snprintf(t.label[i], sizeof(t.label[i]), "VM %zu", i + 1);
	}
	show_table(&t, t.n > 1 ? "of the VMs" : "of the VM");
	free_table(&t);
}

static void show_vcpus(const struct vmm *vmm, const struct vmm *before,
		       double seconds)
{
	struct table t;
	size_t i;

	if (make_table(&t, vmm->nr_vcpus, seconds))
		return;
	for (i = 0; i < t.n; i++) {
		t.column[i].s = &vmm->vcpu[i];
		t.column[i].before = before && i < before->nr_vcpus ?
				     &before->vcpu[i] : NULL;
		snprintf(t.label[i], sizeof(t.label[i]), "vCPU %d",
			 vmm->vcpu_id[i]);
	}
	show_table(&t, "of the vCPUs");
	free_table(&t);
}

/**
 * vmm_show - show all statistics of a process's VMs
 * @vmm: the process, with its statistics
 * @policy: who decides for its vCPUs; NULL: not known
 * @before: the same a while ago, for rates; or NULL
 */
void vmm_show(const struct vmm *vmm, const char *policy,
	      const struct vmm *before)
{
	double seconds = before ? vmm->time - before->time : 0;

	if (opt.json || opt.quiet)
		return;
	say("process %d (%s), %zu VM%s, %zu vCPU%s, policy %s", vmm->pid, vmm->name,
	    vmm->nr_vms, vmm->nr_vms == 1 ? "" : "s", vmm->nr_vcpus,
	    vmm->nr_vcpus == 1 ? "" : "s", policy ? policy : "not known");
	if (vmm->nr_vms > 1)
		say("Which vCPU is whose cannot be told from outside: they stand together.");
	show_vms(vmm, before, seconds);
	show_vcpus(vmm, before, seconds);
}
