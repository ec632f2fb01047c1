// SPDX-License-Identifier: GPL-2.0
/*
 * A guest that works: every vCPU adds to one counter under a ticket lock, and
 * spins with PAUSE meanwhile. Prints the sum; it is right or wrong.
 *
 * usage: test-lockwork VCPUS ADDS [SECONDS]
 *
 * With SECONDS it goes on with new guests until so much time has passed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "vm.h"

static uint32_t work(int vcpus, uint32_t adds)
{
	struct vm *vm = vm_create(vcpus);
	uint32_t sum;
	int i;

	for (i = 0; i < vcpus; i++) {
		vm_set_code(vm, i, GUEST_LOCKED_ADD, false, adds);
		vm_start(vm, i, -1);
	}
	vm_release(vm);
	for (i = 0; i < vcpus; i++)
		vm_join(vm, i);
	sum = vm_read(vm, VM_COUNTER);
	vm_destroy(vm);

	return sum;
}

int main(int argc, char **argv)
{
	int vcpus = argc > 1 ? atoi(argv[1]) : 0;
	uint32_t adds = argc > 2 ? atoi(argv[2]) : 0;
	time_t end = time(NULL) + (argc > 3 ? atoi(argv[3]) : 0);
	uint32_t sum;
	int guests = 0;

	if (vcpus < 1 || vcpus > VM_MAX_VCPUS || adds < 1) {
		fprintf(stderr, "usage: test-lockwork VCPUS ADDS [SECONDS]\n");
		return 1;
	}
	do {
		sum = work(vcpus, adds);
		if (sum != vcpus * adds) {
			printf("wrong: %u and not %u\n", sum, vcpus * adds);
			return 1;
		}
		guests++;
	} while (time(NULL) < end);
	printf("right: %d guests, %u each\n", guests, sum);
	return 0;
}
