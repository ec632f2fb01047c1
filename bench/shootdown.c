// SPDX-License-Identifier: GPL-2.0
/*
 * shootdown: threads of one process that map memory, touch it, and unmap it, over
 * and over. Each unmapping has to be told to every CPU that runs a sibling: the
 * sender of those IPIs spins until all have taken them, and all threads fight over
 * one address space's lock. Prints "Time: SECONDS" as hackbench does.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MAX_THREADS	256

struct work {
	unsigned long	times;
	size_t		pages;
	size_t		page_size;
};

static int usage(void)
{
	fputs("usage: shootdown THREADS TIMES PAGES\n\n"
	      "Each of THREADS (1 to 256) maps PAGES pages, writes to each, and unmaps them,\n"
	      "TIMES times. Prints the seconds that all of it took.\n", stderr);

	return 2;
}

static int fail(const char *what, int error)
{
	fprintf(stderr, "shootdown: %s: %s\n", what, strerror(error));

	return 1;
}

/* The first failure's errno, or 0. */
static void *churn(void *arg)
{
	const struct work *work = arg;
	size_t len = work->pages * work->page_size, at;
	unsigned long i;

	for (i = 0; i < work->times; i++) {
		volatile char *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
					MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			return (void *)(long)errno;
		for (at = 0; at < len; at += work->page_size)
			p[at] = 1;
		if (munmap((void *)p, len))
			return (void *)(long)errno;
	}

	return NULL;
}

static int run(struct work *work, unsigned long nr)
{
	pthread_t threads[MAX_THREADS];
	int error = 0, first = 0;
	unsigned long i;
	void *ret;

	for (i = 0; i < nr; i++) {
		error = pthread_create(&threads[i], NULL, churn, work);
		if (error)
			return fail("a thread cannot be started", error);
	}
	for (i = 0; i < nr; i++) {
		pthread_join(threads[i], &ret);
		if (!first)
			first = (long)ret;
	}

	return first ? fail("memory cannot be mapped and unmapped", first) : 0;
}

static unsigned long number(const char *s, unsigned long max)
{
	char *end;
	unsigned long n = strtoul(s, &end, 10);

	return *s < '0' || *s > '9' || *end || n > max ? 0 : n;
}

int main(int argc, char **argv)
{
	struct timespec from, to;
	struct work work;
	unsigned long nr;

	if (argc != 4)
		return usage();
	nr = number(argv[1], MAX_THREADS);
	work.times = number(argv[2], 100000000);
	work.pages = number(argv[3], 1 << 20);
	work.page_size = sysconf(_SC_PAGESIZE);
	if (!nr || !work.times || !work.pages)
		return usage();

	clock_gettime(CLOCK_MONOTONIC, &from);
	if (run(&work, nr))
		return 1;
	clock_gettime(CLOCK_MONOTONIC, &to);
	printf("Time: %.3f\n", to.tv_sec - from.tv_sec +
	       (to.tv_nsec - from.tv_nsec) / 1e9);

	return 0;
}
