// SPDX-License-Identifier: GPL-2.0
/*
 * Print whom a spinner yields to, in guests whose every vCPU is frozen in a known
 * state. The sequence of choices depends on nothing but KVM's rule, and can be
 * compared between kernels and policies, line by line.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "frozen.h"
#include "tracer.h"
#include "tracer.skel.h"

#define SPINS		150
#define ATTEMPTS	20

struct scenario {
	const char	*name;
	enum state	(*state)(int index, int nr);
	bool		realtime;
};

static enum state all_kernel(int i, int nr)
{
	return KERNEL;
}

static enum state all_user(int i, int nr)
{
	return USER;
}

static enum state one_holder(int i, int nr)
{
	return i == nr - 1 ? KERNEL : USER;
}

static enum state interrupts(int i, int nr)
{
	return i % 3 == 1 ? USER_INTERRUPT : USER;
}

static enum state mixed(int i, int nr)
{
	static const enum state s[] = { USER, KERNEL, USER_INTERRUPT, KERNEL_INTERRUPT };

	return s[i % 4];
}

/* The other spinner finds one vCPU to yield to, so that it is out in its spin. */
static enum state other_spinner(int i, int nr)
{
	if (i == nr / 2)
		return SPINNING;
	return i == nr - 1 ? KERNEL : USER;
}

static const struct scenario scenarios[] = {
	{ "all-kernel", all_kernel },
	{ "all-user", all_user },
	{ "one-holder", one_holder },
	{ "user-interrupts", interrupts },
	{ "mixed", mixed },
	{ "mixed-realtime", mixed, true },
	{ "other-spinner", other_spinner },
};

static int index_of(const struct vm *vm, int tid)
{
	int i;

	for (i = 0; i < vm->nr; i++) {
		if (vm->vcpus[i].tid == tid)
			return i;
	}
	return -1;
}

static void print_choices(const struct vm *vm, const struct tracer_bpf *trace)
{
	const struct tracer_event *e = trace->bss->events;
	unsigned int i;

	for (i = 0; i < trace->bss->nr_events; i++) {
		if (e[i].tid == TRACE_SPIN)
			printf(" |");
		else if (e[i].ret > 0)
			printf(" %d", index_of(vm, e[i].tid));
		else
			printf(" %d:%d", index_of(vm, e[i].tid), e[i].ret);
	}
	printf("\n");
}

/* Was the other spinner where the scenario wants it? */
static bool state_is_right(const struct tracer_bpf *trace)
{
	return !trace->bss->other_spinner_tid ||
	       (trace->bss->other_in_spin_loop && !trace->bss->other_dy_eligible);
}

static void reset_trace(struct tracer_bpf *trace)
{
	trace->bss->nr_events = 0;
	trace->bss->other_spinner_tid = 0;
	trace->bss->other_in_spin_loop = false;
	trace->bss->other_dy_eligible = false;
}

static bool run_once(struct tracer_bpf *trace, const struct scenario *sc, int nr,
		     bool user)
{
	struct vm *vm;
	struct hog hog;
	bool right;
	int other;

	reset_trace(trace);
	vm = vm_create(nr);
	other = start_siblings(vm, sc->state);
	if (other)
		trace->bss->other_spinner_tid = vm->vcpus[other].tid;
	/* Let the other spinner, if there is one, come to its yield. */
	usleep(50000);
	freeze_siblings(vm, sc->state, sc->realtime, &hog);

	vm_set_code(vm, 0, GUEST_PAUSE_N, user, SPINS);
	trace->bss->spinner_tid = syscall(SYS_gettid);
	vm_run_here(vm, 0);
	trace->bss->spinner_tid = 0;

	right = state_is_right(trace);
	if (right) {
		printf("%s vcpus=%d spinner=%s:", sc->name, nr,
		       user ? "user" : "kernel");
		print_choices(vm, trace);
		fflush(stdout);
	}
	thaw_and_destroy(vm, &hog);
	return right;
}

static void run_scenario(struct tracer_bpf *trace, const struct scenario *sc,
			 int nr, bool user)
{
	int i;

	for (i = 0; i < ATTEMPTS; i++) {
		if (run_once(trace, sc, nr, user))
			return;
	}
	errno = 0;
	die("%s with %d vCPUs did not come about in %d attempts", sc->name, nr,
	    ATTEMPTS);
}

int main(int argc, char **argv)
{
	struct tracer_bpf *trace;
	const char *only = NULL;
	unsigned int s;
	int a = 1;

	if (argc > 2 && !strcmp(argv[1], "-s")) {
		only = argv[2];
		a = 3;
	}
	if (a >= argc) {
		fprintf(stderr, "usage: test-choices [-s SCENARIO] VCPUS...\n");
		return 1;
	}
	trace = tracer_bpf__open_and_load();
	if (!trace || tracer_bpf__attach(trace))
		die("cannot attach the tracer");
	pin_thread(pthread_self(), 0);
	/* Held open: the first and the last VM make the kernel patch itself. */
	vm_create(1);
	for (; a < argc; a++) {
		for (s = 0; s < sizeof(scenarios) / sizeof(*scenarios); s++) {
			if (only && strcmp(only, scenarios[s].name))
				continue;
			/* Two vCPUs leave no room for a holder and a spinner. */
			if (scenarios[s].state == other_spinner && atoi(argv[a]) < 4)
				continue;
			run_scenario(trace, &scenarios[s], atoi(argv[a]), false);
			run_scenario(trace, &scenarios[s], atoi(argv[a]), true);
		}
	}
	tracer_bpf__destroy(trace);
	return 0;
}
