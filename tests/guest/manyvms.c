// SPDX-License-Identifier: GPL-2.0
/*
 * Processes with VMs that run and halt, for who looks at them from outside.
 *
 * usage: test-manyvms PROCESSES VMS VCPUS [OPTION...]
 *
 * Each process makes that many VMs of that many vCPUs, prints its id when all
 * have run, and waits for a line on its standard input or its end. Options: stats
 * keeps files of statistics open as some VMMs do; fork: a child inherits the VM;
 * dup: it has its VM's file twice; spin: vCPU 0 goes on in the guest.
 */
#define _GNU_SOURCE
#include <linux/kvm.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "vm.h"

static bool has_option(int argc, char **argv, const char *option)
{
	int i;

	for (i = 4; i < argc; i++)
		if (!strcmp(argv[i], option))
			return true;
	return false;
}

static void make_vm(int vcpus, int argc, char **argv)
{
	struct vm *vm = vm_create(vcpus);
	bool spin = has_option(argc, argv, "spin");
	int i;

	for (i = 0; i < vcpus; i++) {
		if (spin && !i) {
			vm_set_code(vm, i, GUEST_LOOP, false, 0);
			vm_start(vm, i, -1);
			continue;
		}
		vm_set_code(vm, i, GUEST_PAUSE_N, false, 100 * (i + 1));
		vm_run_here(vm, i);
	}
	vm_release(vm);
	while (spin && !vm_read(vm, VM_FLAGS))
		usleep(1000);
	if (has_option(argc, argv, "dup") && dup(vm->fd) < 0)
		die("cannot duplicate the VM's file");
	if (!has_option(argc, argv, "stats"))
		return;
	ioctl(vm->fd, KVM_GET_STATS_FD, NULL);
	for (i = 0; i < vcpus; i++)
		ioctl(vm->vcpus[i].fd, KVM_GET_STATS_FD, NULL);
}

static void be_a_vmm(int vms, int vcpus, int argc, char **argv)
{
	char c;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (vms--)
		make_vm(vcpus, argc, argv);
	printf("%d\n", getpid());
	fflush(stdout);
	if (has_option(argc, argv, "fork") && !fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
	}
	if (read(STDIN_FILENO, &c, 1) < 0)
		perror("test-manyvms");
	_exit(0);
}

int main(int argc, char **argv)
{
	int processes = argc > 3 ? atoi(argv[1]) : 0, i;
	char c;

	if (processes < 1 || atoi(argv[2]) < 1) {
		fprintf(stderr, "usage: test-manyvms PROCESSES VMS VCPUS [OPTION...]\n");
		return 2;
	}
	for (i = 1; i < processes; i++)
		if (!fork())
			be_a_vmm(atoi(argv[2]), atoi(argv[3]), argc, argv);
	be_a_vmm(atoi(argv[2]), atoi(argv[3]), argc, argv);
	return read(STDIN_FILENO, &c, 1) < 0;
}
