// SPDX-License-Identifier: GPL-2.0
/*
 * A policy is told the truth: round after round each vCPU is put into another
 * state and loses its CPU in it, and a policy writes down what it hears of each.
 * Every state comes about ROUNDS times. TAP.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "facts.h"
#include "facts.skel.h"
#include "states.h"

#define NR		NR_STATES
#define EARLY_VMS	4
#define MAX_SHOWN	20

/* Senders of IPIs are believed for a second. */
#define IPI_TOO_LATE_NS	700000000ULL

/*
 * Where the TSC is no good clock, as in emulation, a CPU's clock is let run on for
 * one tick after its last: two of them differ by a tick, and by more for as long
 * as one waits for a tick that is late. That is seldom; a wrong time would not be.
 */
#define TICK_SLACK_NS	4000000LL
#define LATE_TICK_NS	100000000LL
#define LATE_TICKS_IN	1000	/* one wait of so many may be off by more than a tick */

/* The bits of enum kvm_yield_fact, as the interface promises them. */
enum fact {
	PREEMPTED, KERNEL, INTERRUPT, APICV_INTERRUPT, SPINNING, WAIT_VALID,
	IRQS_OFF, HINT_VALID, IPI, IPI_FROM_SPINNER, KICKED_FACT, WOKEN, NR_FACTS
};

#define BIT(fact)	(1u << (fact))

static const char *const names[NR_FACTS] = {
	"preempted", "kernel", "interrupt", "apicv_interrupt", "spinning",
	"wait", "irqs_off", "hint", "ipi", "ipi_from_spinner", "kicked", "woken",
};

static struct {
	unsigned int	yes, no;	/* rounds in which it was so, and not */
	unsigned int	false_yes, false_no;
} tally[NR_FACTS];

static unsigned int wrong_hints, wrong_waits, wrong_looks, wrong_spins, shown;
static unsigned int waits, late_ticks;
static unsigned int state_rounds[NR_STATES], worst_early_us, worst_late_us;
static int tests, failed;

static void __attribute__((format(printf, 2, 3)))
ok(bool good, const char *fmt, ...)
{
	va_list ap;

	if (!good)
		failed++;
	printf("%sok %d - ", good ? "" : "not ", ++tests);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
}

static void __attribute__((format(printf, 1, 2))) wrong(const char *fmt, ...)
{
	va_list ap;

	if (shown++ >= MAX_SHOWN)
		return;
	printf("#  ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
}

static unsigned int facts_of_state(enum subject_state state)
{
	switch (state) {
	case IN_USER:
		return BIT(PREEMPTED);
	case KERNEL_IRQS_OFF:
		return BIT(PREEMPTED) | BIT(KERNEL) | BIT(IRQS_OFF);
	case USER_IRQS_OFF:
		return BIT(PREEMPTED) | BIT(IRQS_OFF);
	case IRQ_BLOCKED:
		return BIT(PREEMPTED) | BIT(KERNEL) | BIT(IRQS_OFF) | BIT(INTERRUPT);
	case USER_IRQ_PENDING:
		return BIT(PREEMPTED) | BIT(INTERRUPT);
	case IRQ_PENDING:
	case IPI_TAKEN_IRQ:
		return BIT(PREEMPTED) | BIT(KERNEL) | BIT(INTERRUPT);
	case IPI_OTHER:
		return BIT(PREEMPTED) | BIT(KERNEL) | BIT(INTERRUPT) | BIT(IPI);
	case IPI_MINE:
	case IPI_BOTH:
		return BIT(PREEMPTED) | BIT(KERNEL) | BIT(INTERRUPT) | BIT(IPI) |
		       BIT(IPI_FROM_SPINNER);
	case KICKED:
		return BIT(PREEMPTED) | BIT(KERNEL) | BIT(KICKED_FACT);
	case WOKEN_BY_IRQ:
		return BIT(WOKEN) | BIT(INTERRUPT);
	case WOKEN_BY_IPI:
		return BIT(WOKEN) | BIT(INTERRUPT) | BIT(IPI) | BIT(IPI_FROM_SPINNER);
	case WOKEN_BY_KICK:
		return BIT(WOKEN) | BIT(KICKED_FACT);
	default:
		return BIT(PREEMPTED) | BIT(KERNEL);
	}
}

static unsigned int expected(const struct subject *sub)
{
	unsigned int facts = facts_of_state(sub->state) | BIT(WAIT_VALID);

	if (sub->hinted && facts & BIT(PREEMPTED))
		facts |= BIT(HINT_VALID);
	return facts;
}

static void count(const char *what, int index, unsigned int want,
		  unsigned int got)
{
	int i;

	if (want != got)
		wrong("%s: vCPU %d has facts %#x and not %#x", what, index, got,
		      want);
	for (i = 0; i < NR_FACTS; i++) {
		bool is = want & BIT(i), told = got & BIT(i);

		tally[i].yes += is;
		tally[i].no += !is;
		tally[i].false_no += is && !told;
		tally[i].false_yes += !is && told;
	}
}

/*
 * It began to wait after it was let run, or after it was sent what woke it, and
 * before all of them had lost their CPU.
 */
static void check_wait(const struct subjects *s, const struct subject *sub,
		       const struct told *t, unsigned long long begun,
		       unsigned long long end)
{
	bool woken = expected(sub) & BIT(WOKEN);
	unsigned long long first = woken ? sub->sent_ns : sub->posted_ns;
	unsigned long long last = woken ? sub->sent_done_ns : s->frozen_ns;
	long long early = begun - last - t->wait_ns;
	long long late = t->wait_ns - (end - first);
	long long off = early > late ? early : late;

	waits++;
	if (early > 0 && early / 1000 > worst_early_us)
		worst_early_us = early / 1000;
	if (late > 0 && late / 1000 > worst_late_us)
		worst_late_us = late / 1000;
	if (off <= TICK_SLACK_NS)
		return;
	if (off <= LATE_TICK_NS)
		late_ticks++;
	else
		wrong_waits++;
	wrong("state %d: waited %llu us and not %llu to %llu us", sub->state,
	      t->wait_ns / 1000, (begun - last) / 1000, (end - first) / 1000);
}

static void check_subject(const struct subjects *s, const struct subject *sub,
			  const struct told *t, unsigned int mask,
			  unsigned long long begun, unsigned long long end)
{
	char what[32];

	state_rounds[sub->state]++;
	snprintf(what, sizeof(what), "state %d", sub->state);
	if (t->looks != (sub->state != HALTED)) {
		wrong_looks++;
		wrong("%s: vCPU %d was looked at %u times", what,
		      sub->vcpu->index, t->looks);
		return;
	}
	if (sub->state == HALTED)
		return;

	count(what, sub->vcpu->index, expected(sub) & mask, t->facts);
	if (t->hint != (expected(sub) & mask & BIT(HINT_VALID) ? sub->hint : 0)) {
		wrong_hints++;
		wrong("%s: the hint is %#x and not %#x", what, t->hint, sub->hint);
	}
	if (mask & BIT(WAIT_VALID))
		check_wait(s, sub, t, begun, end);
	else if (t->wait_ns)
		wrong_waits++;
}

static void check_spinner(const struct facts_bpf *p, const struct subjects *s,
			  bool user)
{
	unsigned int ready = 0;
	int i;

	for (i = 0; i < s->nr; i++)
		ready += s->of[i].state != HALTED;
	if (p->bss->spin_facts == (user ? 0 : BIT(KERNEL)) &&
	    p->bss->spin_kernel_only == !user && !p->bss->spin_index &&
	    p->bss->spin_nr_vcpus == (unsigned int)s->vm->nr &&
	    p->bss->spin_nr_ready == ready && !p->bss->told[0].looks)
		return;
	wrong_spins++;
	wrong("the spinner: facts %#x, kernel_only %u, index %u, %u vCPUs, %u ready",
	      p->bss->spin_facts, p->bss->spin_kernel_only, p->bss->spin_index,
	      p->bss->spin_nr_vcpus, p->bss->spin_nr_ready);
}

static bool too_late(const struct subjects *s, unsigned long long end)
{
	int i;

	for (i = 0; i < s->nr; i++) {
		if (end - s->of[i].sent_ns > IPI_TOO_LATE_NS)
			return true;
	}
	return false;
}

/* Returns false if the round does not count. */
static bool look(struct facts_bpf *p, struct subjects *s, bool user,
		 unsigned int mask)
{
	unsigned long long begun, end;
	int i;

	memset(p->bss->told, 0, sizeof(p->bss->told));
	begun = now_ns();
	subjects_look(s, user);
	end = now_ns();
	if (mask & BIT(IPI) && too_late(s, end))
		return false;

	for (i = 0; i < s->nr; i++)
		check_subject(s, &s->of[i],
			      &p->bss->told[s->of[i].vcpu->index], mask, begun,
			      end);
	check_spinner(p, s, user);
	return true;
}

static void choose_states(struct subjects *s, unsigned int round, bool halted)
{
	int i;

	for (i = 0; i < s->nr; i++) {
		struct subject *sub = &s->of[i];

		sub->state = (i + round) % NR_STATES;
		if (sub->state == HALTED && !halted)
			sub->state = IN_KERNEL;
		sub->hinted = random() % 2;
		sub->hint = random() * 2 + random() % 2;
	}
}

static void rounds(struct facts_bpf *p, struct hog *hog, unsigned int nr)
{
	struct subjects *s = subjects_create(NR, hog);
	unsigned int i = 0, late = 0;

	while (i < nr) {
		choose_states(s, i, true);
		subjects_freeze(&s, 1);
		/* Some wait longer, so that the time is told and not a constant. */
		if (i % 10 == 0)
			usleep(20000);
		if (look(p, s, i % 2, ~0u))
			i++;
		else if (++late > nr)
			die("IPIs are late all the time");
		subjects_thaw(&s, 1);
	}
	subjects_destroy(s);
	printf("# %u rounds came too late for IPIs, and were done again\n", late);
}

/* Of what was before the first policy only little is known. */
static void early_rounds(struct facts_bpf *p, struct hog *hog, unsigned int nr)
{
	unsigned int unknown = BIT(WAIT_VALID) | BIT(IRQS_OFF) | BIT(HINT_VALID) |
			       BIT(IPI) | BIT(IPI_FROM_SPINNER);
	struct subjects *s[EARLY_VMS];
	int i;

	for (i = 0; i < EARLY_VMS; i++) {
		s[i] = subjects_create(nr / EARLY_VMS, hog);
		choose_states(s[i], i, false);
	}
	subjects_freeze(s, EARLY_VMS);
	if (facts_bpf__attach(p))
		die("cannot attach the policy that listens");
	for (i = 0; i < EARLY_VMS; i++)
		look(p, s[i], i % 2, ~unknown);
	subjects_thaw(s, EARLY_VMS);
	for (i = 0; i < EARLY_VMS; i++)
		subjects_destroy(s[i]);
}

/* Let the one that spins run until it is where it is wanted, and stop it there. */
static void catch_spinning(struct facts_bpf *p, struct hog *hog, bool spinning)
{
	volatile unsigned int *events = spinning ? &p->bss->takes : &p->bss->asked;
	unsigned int before, tries = 10000;

	p->bss->may_yield = spinning;
	for (;;) {
		before = *events;
		usleep(500);
		hog_take(hog);
		errno = 0;
		if (!tries--)
			die("vCPU %d does not %s", FACTS_SPINNING,
			    spinning ? "yield" : "spin");
		if (*events != before && p->bss->yielding == spinning)
			return;
		hog_release(hog);
	}
}

/*
 * Whether a vCPU is in a spin shows in what is between rank() and yielded(): it
 * has lost its CPU to whom it yielded. It can lose it to others only elsewhere.
 */
static void spinning_rounds(struct facts_bpf *p, struct hog *hog,
			    unsigned int nr)
{
	unsigned int always = BIT(PREEMPTED) | BIT(KERNEL) | BIT(WAIT_VALID);
	struct vm *vm = vm_create(4);
	unsigned int i;
	int v;

	p->bss->may_yield = true;
	for (v = 1; v < vm->nr; v++) {
		vm_set_code(vm, v, v == FACTS_SPINNING ? GUEST_PAUSE : GUEST_LOOP,
			    false, 0);
		vm_start(vm, v, 1);
	}
	vm_release(vm);
	vm_wait_flags(vm, 1);
	for (i = 0; i < 2 * nr; i++) {
		catch_spinning(p, hog, i % 2);
		memset(p->bss->told, 0, sizeof(p->bss->told));
		vm_set_code(vm, 0, GUEST_PAUSE_N, false, 1);
		vm_run_here(vm, 0);
		count("spinning", FACTS_SPINNING,
		      always | (i % 2 ? BIT(SPINNING) : 0),
		      p->bss->told[FACTS_SPINNING].facts);
	}
	p->bss->may_yield = true;
	vm_stop(vm);
	hog_release(hog);
	vm_destroy(vm);
	hog_take(hog);
}

static void report(const struct facts_bpf *p, unsigned int nr)
{
	unsigned int i, fewest = nr;

	for (i = 0; i < NR_STATES; i++) {
		if (state_rounds[i] < fewest)
			fewest = state_rounds[i];
	}
	ok(fewest == nr, "each of %d states came about %u times", NR_STATES, fewest);
	for (i = 0; i < NR_FACTS; i++) {
		/* No hardware of the lab has it. */
		bool enough = i == APICV_INTERRUPT || tally[i].yes >= nr;

		ok(enough && tally[i].no >= nr && !tally[i].false_yes &&
		   !tally[i].false_no,
		   "%s: %u rounds true, %u rounds false, %u false positives, %u false negatives",
		   names[i], tally[i].yes, tally[i].no, tally[i].false_yes,
		   tally[i].false_no);
	}
	ok(!wrong_hints, "the hint's value: %u wrong", wrong_hints);
	ok(!wrong_waits && late_ticks * LATE_TICKS_IN <= waits,
	   "the time waited: %u wrong, %u of %u off by more than a tick (%u us early, %u us late)",
	   wrong_waits, late_ticks, waits, worst_early_us, worst_late_us);
	ok(!wrong_looks, "who waits is asked about once, who is halted never: %u wrong",
	   wrong_looks);
	ok(!wrong_spins, "what is told of the spinner: %u wrong", wrong_spins);
	ok(!p->bss->wrong_vcpu, "the vCPUs can be read, and are the right ones");
}

int main(int argc, char **argv)
{
	struct facts_bpf *p = facts_bpf__open_and_load();
	unsigned int nr = argc > 1 ? atoi(argv[1]) : 1000;
	unsigned long long begun = now_ns();
	struct hog hog;

	if (!p)
		die("cannot load the policy that listens");
	srandom(1);
	pin_thread(pthread_self(), 0);
	hog_start(&hog, 1);
	hog_release(&hog);
	setvbuf(stdout, NULL, _IOLBF, 0);
	early_rounds(p, &hog, nr);
	printf("# before the first policy: %llu ms\n", (now_ns() - begun) / 1000000);
	rounds(p, &hog, nr);
	printf("# states: %llu ms\n", (now_ns() - begun) / 1000000);
	spinning_rounds(p, &hog, nr);
	hog_stop(&hog);
	printf("# spinning: %llu ms\n", (now_ns() - begun) / 1000000);
	report(p, nr);
	facts_bpf__destroy(p);
	printf("1..%d\n", tests);
	return failed ? 1 : 0;
}
