// SPDX-License-Identifier: GPL-2.0
/*
 * Write down what a spinner does, on any KVM: each arrival in
 * kvm_vcpu_on_spin(), and each directed yield with its result.
 */
#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "tracer.h"

char _license[] SEC("license") = "GPL";

/* The thread that is watched, and the one whose spin state is wanted. */
int spinner_tid;
int other_spinner_tid;

struct tracer_event events[TRACE_MAX];
unsigned int nr_events;

/* spin_loop of the other spinner when the watched one began. */
bool other_in_spin_loop;
bool other_dy_eligible;

static struct kvm_vcpu *other;

static void note(int tid, int ret)
{
	unsigned int i = nr_events;

	if (i >= TRACE_MAX)
		return;
	events[i].tid = tid;
	events[i].ret = ret;
	nr_events = i + 1;
}

static int current_tid(void)
{
	return (int)bpf_get_current_pid_tgid();
}

SEC("fentry/kvm_vcpu_on_spin")
int BPF_PROG(on_spin, struct kvm_vcpu *me)
{
	int tid = current_tid();

	if (tid == other_spinner_tid)
		other = me;
	if (tid != spinner_tid)
		return 0;
	if (!nr_events && other) {
		other_in_spin_loop = BPF_CORE_READ(other, spin_loop.in_spin_loop);
		other_dy_eligible = BPF_CORE_READ(other, spin_loop.dy_eligible);
	}
	note(TRACE_SPIN, 0);
	return 0;
}

SEC("fexit/yield_to")
int BPF_PROG(yielded, struct task_struct *p, bool preempt, int ret)
{
	if (current_tid() == spinner_tid)
		note(p->pid, ret);
	return 0;
}
