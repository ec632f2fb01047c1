// SPDX-License-Identifier: GPL-2.0
/*
 * A policy is told the truth: every sibling is frozen in a known state, and a
 * policy writes down what it hears of each. TAP.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "facts.h"
#include "facts.skel.h"
#include "frozen.h"

#define NR	13
#define SPINS	1000
#define ATTEMPTS	10

/* The bits of enum kvm_yield_fact, as the interface promises them. */
#define PREEMPTED	(1 << 0)
#define IN_KERNEL	(1 << 1)
#define INTERRUPT	(1 << 2)
#define IN_SPIN		(1 << 4)
#define WAIT_VALID	(1 << 5)
#define WOKEN_UP	(1 << 11)

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

/* The spinning one needs a vCPU in kernel mode that it can yield to. */
static enum state every_state(int i, int nr)
{
	static const enum state s[] = {
		USER, KERNEL, USER, KERNEL_INTERRUPT, USER_INTERRUPT, WOKEN,
	};

	return i == nr - 1 ? SPINNING : s[i % 6];
}

static unsigned int expected(enum state s)
{
	switch (s) {
	case KERNEL:
		return PREEMPTED | IN_KERNEL | WAIT_VALID;
	case USER:
		return PREEMPTED | WAIT_VALID;
	case KERNEL_INTERRUPT:
		return PREEMPTED | IN_KERNEL | INTERRUPT | WAIT_VALID;
	case USER_INTERRUPT:
		return PREEMPTED | INTERRUPT | WAIT_VALID;
	case SPINNING:
		return PREEMPTED | IN_KERNEL | IN_SPIN | WAIT_VALID;
	case WOKEN:
		return INTERRUPT | WOKEN_UP | WAIT_VALID;
	}
	return 0;
}

static unsigned long long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void check_told(const struct facts_bpf *p, unsigned long long spin_ns,
		       unsigned long long life_ns)
{
	static const char *const names[] = {
		"kernel", "user", "kernel with an interrupt",
		"user with an interrupt", "spinning", "woken from HLT",
	};
	unsigned int want;
	int i;

	for (i = 1; i < NR; i++) {
		const struct told *t = &p->bss->told[i];

		want = expected(every_state(i, NR));
		ok(t->looks == SPINS && t->any == want && t->all == want,
		   "vCPU %d, %s: facts %#x (any %#x, all %#x in %u looks)", i,
		   names[every_state(i, NR)], want, t->any, t->all, t->looks);
		ok(t->last_wait_ns - t->first_wait_ns <= spin_ns &&
		   t->last_wait_ns > t->first_wait_ns &&
		   t->last_wait_ns <= life_ns,
		   "vCPU %d: waited %llu to %llu us of %llu us", i,
		   t->first_wait_ns / 1000, t->last_wait_ns / 1000,
		   life_ns / 1000);
	}
	ok(!p->bss->told[0].looks, "the spinner is no candidate");
	ok(!p->bss->wrong_vcpu, "the vCPUs can be read, and are the right ones");
}

/* Returns false if the sibling that spins was caught between two spins. */
static bool run(struct facts_bpf *p, bool user, bool last_try)
{
	bool caught;
	unsigned long long start, spin, end;
	struct vm *vm;
	struct hog hog;

	start = now_ns();
	p->bss->listening = false;
	vm = vm_create(NR);
	start_siblings(vm, every_state);
	usleep(50000);
	freeze_siblings(vm, every_state, false, &hog);

	vm_set_code(vm, 0, GUEST_PAUSE_N, user, SPINS);
	for (int i = 0; i < FACTS_MAX; i++)
		p->bss->told[i] = (struct told) {};
	p->bss->listening = true;
	spin = now_ns();
	vm_run_here(vm, 0);
	end = now_ns();
	thaw_and_destroy(vm, &hog);

	caught = p->bss->told[NR - 1].all & IN_SPIN;
	if (!caught && !last_try)
		return false;
	check_told(p, end - spin, end - start);
	ok(p->bss->spin_facts == (user ? 0 : IN_KERNEL),
	   "the spinner was in %s mode", user ? "user" : "kernel");
	ok(p->bss->spin_kernel_only == !user && p->bss->spin_index == 0,
	   "the spinner: kernel_only %u, index %u", p->bss->spin_kernel_only,
	   p->bss->spin_index);
	ok(p->bss->spin_nr_vcpus == NR && p->bss->spin_nr_ready == NR - 1,
	   "%u vCPUs, %u ready", p->bss->spin_nr_vcpus, p->bss->spin_nr_ready);
	return true;
}

int main(void)
{
	struct facts_bpf *p = facts_bpf__open_and_load();

	int user, i;

	if (!p || facts_bpf__attach(p))
		die("cannot attach the policy that listens");
	pin_thread(pthread_self(), 0);
	for (user = 0; user < 2; user++) {
		for (i = 1; !run(p, user, i == ATTEMPTS); i++)
			;
	}
	facts_bpf__destroy(p);
	printf("1..%d\n", tests);
	return failed ? 1 : 0;
}
