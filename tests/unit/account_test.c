// SPDX-License-Identifier: GPL-2.0
/*
 * What is recorded when a vCPU loses its CPU, and what is counted: for the
 * policy, for each VM, and for each fact.
 */
#include "fake_kvm.h"

#define OUT_FACTS	(KVM_YIELD_IRQS_OFF | KVM_YIELD_HINT_VALID)
#define WORD		0x80000102u

static void attach(void)
{
	assert_int_equal(fake_attach(&fake_scripted), 0);
}

/* As kvm_sched_out() does. */
static void preempt(unsigned int index, u32 facts, u32 hint)
{
	struct kvm_vcpu *v = fake_vcpu(index);

	v->fake_out_facts = facts;
	v->fake_hint = hint;
	kvm_yield_note_preempted(v);
	v->preempted = true;
	v->ready = true;
}

static const struct kvm_yield_candidate *told_of(unsigned int index)
{
	fake_forget();
	assert_true(fake_spin(0, false));
	assert_int_equal(fake_nr_ranks, 1);
	assert_int_equal(fake_ranks[0].cand.index, index);

	return &fake_ranks[0].cand;
}

static void tells_what_was_recorded(void **state)
{
	const struct kvm_yield_candidate *c;

	attach();
	fake_score_all(KVM_YIELD_REFUSE);
	preempt(2, OUT_FACTS, WORD);
	fake_clock += 700;
	c = told_of(2);
	assert_int_equal(c->facts, KVM_YIELD_PREEMPTED | KVM_YIELD_WAIT_VALID |
			 OUT_FACTS);
	assert_int_equal(c->hint, WORD);
	assert_int_equal(c->wait_ns, 700);

	/* Each time anew: the record before is forgotten. */
	preempt(2, 0, WORD);
	c = told_of(2);
	assert_int_equal(c->facts, KVM_YIELD_PREEMPTED | KVM_YIELD_WAIT_VALID);
	assert_int_equal(c->hint, 0);
}

static void says_nothing_old(void **state)
{
	const struct kvm_yield_candidate *c;

	/* Lost its CPU while no policy was attached, and before that under one. */
	attach();
	preempt(2, OUT_FACTS, WORD);
	fake_detach();
	fake_clock += 1000;
	attach();
	fake_score_all(KVM_YIELD_REFUSE);
	c = told_of(2);
	assert_int_equal(c->facts, KVM_YIELD_PREEMPTED);
	assert_int_equal(c->hint, 0);
}

static void woken_ones_have_no_record(void **state)
{
	const struct kvm_yield_candidate *c;

	attach();
	fake_score_all(KVM_YIELD_REFUSE);
	preempt(2, OUT_FACTS, WORD);
	fake_vcpu(2)->preempted = false;
	kvm_yield_note_ready(fake_vcpu(2));
	c = told_of(2);
	assert_int_equal(c->facts, KVM_YIELD_WOKEN | KVM_YIELD_WAIT_VALID);
	assert_int_equal(c->hint, 0);
}

static void waking_does_not_renew_a_record(void **state)
{
	const struct kvm_yield_candidate *c;

	/* Recorded under an earlier policy; woken, on its run queue, under this. */
	attach();
	preempt(2, OUT_FACTS, WORD);
	fake_detach();
	fake_clock += 1000;
	attach();
	fake_score_all(KVM_YIELD_REFUSE);
	kvm_yield_note_ready(fake_vcpu(2));
	c = told_of(2);
	assert_int_equal(c->facts, KVM_YIELD_PREEMPTED | KVM_YIELD_WAIT_VALID);
}

static void spinner_has_facts_of_its_own(void **state)
{
	attach();
	fake_vcpu(0)->fake_in_kernel = true;
	fake_vcpu(0)->fake_facts = KVM_YIELD_IRQS_OFF;
	preempt(2, 0, 0);
	told_of(2);
	assert_int_equal(fake_ranks[0].spin.facts,
			 KVM_YIELD_KERNEL | KVM_YIELD_IRQS_OFF);
}

static unsigned int bit(u32 fact)
{
	return __builtin_ctz(fact);
}

static void counts_facts(void **state)
{
	struct kvm_yield_counters c;

	attach();
	preempt(1, OUT_FACTS, WORD);
	preempt(2, KVM_YIELD_IRQS_OFF, 0);
	preempt(3, 0, 0);
	fake_score_all(KVM_YIELD_REFUSE);
	fake_score[2] = 5;
	assert_true(fake_spin(0, false));
	c = fake_status().counters;
	assert_int_equal(c.candidates, 3);
	assert_int_equal(c.seen[bit(KVM_YIELD_PREEMPTED)], 3);
	assert_int_equal(c.seen[bit(KVM_YIELD_IRQS_OFF)], 2);
	assert_int_equal(c.seen[bit(KVM_YIELD_HINT_VALID)], 1);
	assert_int_equal(c.seen[bit(KVM_YIELD_KERNEL)], 0);
	assert_int_equal(c.chosen[bit(KVM_YIELD_PREEMPTED)], 1);
	assert_int_equal(c.chosen[bit(KVM_YIELD_IRQS_OFF)], 1);
	assert_int_equal(c.chosen[bit(KVM_YIELD_HINT_VALID)], 0);
}

static struct kvm_yield_vm_status vm_status(void)
{
	struct kvm_yield_vm_status vm[2];

	memset(vm, 0xff, sizeof(vm));
	assert_int_equal(kvm_yield_read_vms(vm, 2, 0), 1);
	/* What is not there is not written. */
	assert_int_equal(vm[1].pid, -1);

	return vm[0];
}

static void a_vm_has_its_own_account(void **state)
{
	struct kvm_yield_vm_status vm;
	struct kvm_yield_counters all;

	fake_vm->userspace_pid = 4711;
	attach();
	fake_make_all_ready();
	assert_true(fake_spin(0, false));
	fake_score_all(KVM_YIELD_REFUSE);
	assert_true(fake_spin(1, true));
	vm = vm_status();
	all = fake_status().counters;
	assert_int_equal(vm.pid, 4711);
	assert_int_equal(vm.nr_vcpus, 4);
	assert_int_equal(vm.flags, KVM_YIELD_VM_USER_APIC);
	assert_int_equal(vm.counters.spins, 2);
	assert_memory_equal(&vm.counters, &all, sizeof(all));
	assert_int_equal(fake_vcpu(0)->yield.counters.spins, 1);

	/* Another VM's account is another one. */
	fake_make_vm(4);
	fake_make_all_ready();
	assert_true(fake_spin(0, false));
	assert_int_equal(vm_status().counters.spins, 1);
	assert_int_equal(fake_status().counters.spins, 3);
}

static void accounts_begin_at_nought(void **state)
{
	attach();
	fake_make_all_ready();
	assert_true(fake_spin(0, false));
	assert_true(fake_spin(1, false));
	assert_int_equal(vm_status().counters.spins, 2);

	assert_int_equal(fake_replace(&fake_scripted), 0);
	assert_int_equal(vm_status().counters.spins, 0);
	assert_true(fake_spin(1, false));
	assert_int_equal(vm_status().counters.spins, 1);

	fake_detach();
	assert_int_equal(vm_status().counters.spins, 0);
}

static void passes_over_vms(void **state)
{
	struct kvm_yield_vm_status vm;

	memset(&vm, 0xff, sizeof(vm));
	assert_int_equal(kvm_yield_read_vms(&vm, 1, 1), 1);
	assert_int_equal(vm.pid, -1);
	assert_int_equal(kvm_yield_read_vms(&vm, 1, ~0u), 1);
	assert_int_equal(vm.pid, -1);
	assert_int_equal(kvm_yield_read_vms(&vm, 0, 0), 1);
	assert_int_equal(vm.pid, -1);
}

static void bounded_spins_are_the_vms_too(void **state)
{
	int i;

	attach();
	preempt(2, 0, 0);
	for (i = 0; i < KVM_YIELD_MAX_STREAK; i++)
		assert_true(fake_spin(0, false));
	assert_false(fake_spin(0, false));
	assert_int_equal(vm_status().counters.bounded, 1);
	assert_int_equal(fake_status().counters.bounded, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fake_setup, fake_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(tells_what_was_recorded),
		TEST(says_nothing_old),
		TEST(woken_ones_have_no_record),
		TEST(waking_does_not_renew_a_record),
		TEST(spinner_has_facts_of_its_own),
		TEST(counts_facts),
		TEST(a_vm_has_its_own_account),
		TEST(accounts_begin_at_nought),
		TEST(passes_over_vms),
		TEST(bounded_spins_are_the_vms_too),
	};

	setenv("CMOCKA_MESSAGE_OUTPUT", "TAP", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
