// SPDX-License-Identifier: GPL-2.0
/* A policy that says what a test wrote down, and records what it was asked. */
#include "fake_kvm.h"

s32 fake_score[KVM_MAX_VCPUS];
int fake_write_eligible[KVM_MAX_VCPUS];
struct fake_call fake_ranks[FAKE_MAX_CALLS], fake_yieldeds[FAKE_MAX_CALLS];
unsigned int fake_nr_ranks, fake_nr_yieldeds;

/* What holds in each call, whatever the state of the VM. */
static void check_call(const struct kvm_yield_spin *spin,
		       const struct kvm_yield_candidate *cand)
{
	if (fake_rcu_depth != 1)
		fail_msg("a policy was called with RCU depth %d", fake_rcu_depth);
	if (!spin->vcpu->spin_loop.in_spin_loop)
		fail_msg("the spinner is not marked as spinning");
	if (cand->vcpu == spin->vcpu)
		fail_msg("the spinner is its own candidate");
	if (cand->vcpu != fake_vcpu(cand->index) ||
	    spin->vcpu != fake_vcpu(spin->index))
		fail_msg("an index is not that of its vCPU");
	if (cand->wait_ns && !(cand->facts & KVM_YIELD_WAIT_VALID))
		fail_msg("a waiting time that is not known");
	if ((s64)cand->wait_ns < 0)
		fail_msg("a negative waiting time");
	if (cand->facts & KVM_YIELD_KERNEL && !(cand->facts & KVM_YIELD_PREEMPTED))
		fail_msg("a mode of a vCPU that was not preempted");
	if (cand->streak > KVM_YIELD_MAX_STREAK)
		fail_msg("a streak of %u", cand->streak);
}

static s32 scripted_rank(const struct kvm_yield_spin *spin,
			 struct kvm_yield_candidate *cand)
{
	struct fake_call *call;

	check_call(spin, cand);
	if (!cand->vcpu->ready ||
	    (cand->vcpu->fake_blocking && !cand->vcpu->fake_dy_runnable))
		fail_msg("vCPU %u does not wait for a CPU", cand->index);
	if (fake_nr_ranks == FAKE_MAX_CALLS)
		fail_msg("too many calls of rank()");
	call = &fake_ranks[fake_nr_ranks++];
	call->spin = *spin;
	call->cand = *cand;
	if (fake_write_eligible[cand->index])
		cand->dy_eligible = fake_write_eligible[cand->index] > 0;

	return fake_score[cand->index];
}

static void scripted_yielded(const struct kvm_yield_spin *spin,
			     const struct kvm_yield_candidate *cand, int ret)
{
	struct fake_call *call;

	check_call(spin, cand);
	if (fake_nr_yieldeds == FAKE_MAX_CALLS)
		fail_msg("too many calls of yielded()");
	if (!fake_nr_targets || (u32)fake_targets[fake_nr_targets - 1] != cand->index)
		fail_msg("yielded() for vCPU %u, which was not the last", cand->index);
	call = &fake_yieldeds[fake_nr_yieldeds++];
	call->spin = *spin;
	call->cand = *cand;
	call->ret = ret;
}

const struct kvm_yield_ops fake_scripted = {
	.rank = scripted_rank,
	.yielded = scripted_yielded,
	.name = "scripted",
};

void fake_score_all(s32 score)
{
	unsigned int i;

	for (i = 0; i < KVM_MAX_VCPUS; i++)
		fake_score[i] = score;
}

/* Begin a new record; the VM and the policy stay as they are. */
void fake_forget(void)
{
	fake_nr_targets = 0;
	fake_nr_ranks = 0;
	fake_nr_yieldeds = 0;
	fake_nr_resched = 0;
}

void fake_check_targets(const int *want, unsigned int nr, const char *file,
			int line)
{
	unsigned int i;

	for (i = 0; i < nr && i < fake_nr_targets; i++) {
		if (fake_targets[i] == want[i])
			continue;
		print_error("#  yield %u went to vCPU %d, not to %d\n", i,
			    fake_targets[i], want[i]);
		_fail(file, line);
	}
	if (fake_nr_targets != nr) {
		print_error("#  %u yields, not %u\n", fake_nr_targets, nr);
		_fail(file, line);
	}
}
