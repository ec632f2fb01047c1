// SPDX-License-Identifier: GPL-2.0
/* Who has sent an IPI to whom, and until when it counts. */
#include "fake_kvm.h"
#include "../../kernel/arch/x86/kvm/yield.h"

#define VECTOR		0xfb
#define OTHER		0xfd
#define MSEC		(1ull << 20)
#define FROM_ME		(KVM_YIELD_IPI | KVM_YIELD_IPI_FROM_SPINNER)

static struct kvm_lapic apic;

static int setup(void **state)
{
	fake_setup(state);
	memset(&apic, 0, sizeof(apic));
	fake_make_vm(16);
	kvm_yield_init_vm(fake_vm);
	fake_vcpu(1)->arch.apic = &apic;
	assert_int_equal(fake_attach(&fake_scripted), 0);
	/* A clock that is not at the moment of attaching. */
	fake_clock += 10 * MSEC;
	return 0;
}

static void set_irr(u8 vector, bool set)
{
	u32 *irr = (u32 *)(apic.regs + 0x200 + vector / 32 * 0x10);

	*irr = set ? *irr | 1u << vector % 32 : *irr & ~(1u << vector % 32);
}

/* As KVM delivers an IPI to vCPU 1. */
static void send(unsigned int from, u8 vector)
{
	fake_running = fake_vcpu(from);
	kvm_yield_ipi_begin(fake_running);
	kvm_yield_note_irq(fake_vcpu(1), vector);
	set_irr(vector, true);
	kvm_yield_ipi_end(fake_running);
}

/* A device's interrupt, delivered in the thread of a vCPU that has written MMIO. */
static void interrupt(unsigned int in_thread_of, u8 vector)
{
	fake_running = fake_vcpu(in_thread_of);
	kvm_yield_note_irq(fake_vcpu(1), vector);
	set_irr(vector, true);
}

static void ack(u8 vector)
{
	set_irr(vector, false);
	kvm_yield_irq_taken(fake_vcpu(1), vector);
	fake_vcpu(1)->arch.interrupt.injected = true;
	fake_vcpu(1)->arch.interrupt.nr = vector;
}

static void delivered(void)
{
	fake_vcpu(1)->arch.interrupt.injected = false;
}

static u32 facts(unsigned int spinner)
{
	return kvm_yield_ipi_facts(fake_vcpu(1), fake_vcpu(spinner));
}

static void the_sender_is_told(void **state)
{
	assert_int_equal(facts(0), 0);
	send(0, VECTOR);
	assert_int_equal(facts(0), FROM_ME);
	assert_int_equal(facts(2), KVM_YIELD_IPI);
}

static void devices_send_no_ipis(void **state)
{
	interrupt(0, VECTOR);
	assert_int_equal(facts(0), 0);
	fake_running = NULL;
	kvm_yield_note_irq(fake_vcpu(1), VECTOR);
	assert_int_equal(facts(0), 0);
}

static void nobody_sends_to_itself(void **state)
{
	send(1, VECTOR);
	assert_int_equal(facts(1), 0);
}

static void taken_means_forgotten(void **state)
{
	send(0, VECTOR);
	ack(VECTOR);
	/* Preempted before the guest has seen it. */
	assert_int_equal(facts(0), FROM_ME);
	delivered();
	assert_int_equal(facts(0), 0);

	/* The same vector by another one, or by a device. */
	send(2, VECTOR);
	assert_int_equal(facts(0), KVM_YIELD_IPI);
	assert_int_equal(facts(2), FROM_ME);
	ack(VECTOR);
	delivered();
	interrupt(3, VECTOR);
	assert_int_equal(facts(2), 0);
	ack(VECTOR);
	assert_int_equal(facts(2), 0);
}

static void other_vectors_stay(void **state)
{
	send(0, VECTOR);
	send(0, OTHER);
	ack(OTHER);
	delivered();
	assert_int_equal(facts(0), FROM_ME);
	ack(VECTOR);
	delivered();
	assert_int_equal(facts(0), 0);
}

static void several_senders(void **state)
{
	unsigned int i;

	for (i = 2; i < 2 + KVM_YIELD_MAX_IPIS; i++) {
		fake_clock += MSEC;
		send(i, VECTOR);
	}
	for (i = 2; i < 2 + KVM_YIELD_MAX_IPIS; i++)
		assert_int_equal(facts(i), FROM_ME);

	/* One more than there is room for: the oldest is forgotten. */
	fake_clock += MSEC;
	send(15, VECTOR);
	assert_int_equal(facts(15), FROM_ME);
	assert_int_equal(facts(2), KVM_YIELD_IPI);
	assert_int_equal(facts(3), FROM_ME);

	/* One interrupt answers all of them. */
	ack(VECTOR);
	delivered();
	for (i = 2; i < 16; i++)
		assert_int_equal(facts(i), 0);
}

static void again_is_no_second_pair(void **state)
{
	unsigned int i;

	send(2, VECTOR);
	for (i = 0; i < 100; i++) {
		fake_clock += MSEC;
		send(0, VECTOR);
	}
	assert_int_equal(facts(2), FROM_ME);
	assert_int_equal(facts(0), FROM_ME);
}

static void goes_stale(void **state)
{
	send(0, VECTOR);
	fake_clock += 999 * MSEC;
	assert_int_equal(facts(0), FROM_ME);
	fake_clock += 2 * MSEC;
	assert_int_equal(facts(0), 0);
	send(0, VECTOR);
	assert_int_equal(facts(0), FROM_ME);
	/* The clock of this CPU may be behind. */
	fake_clock -= 5 * MSEC;
	assert_int_equal(facts(0), FROM_ME);
}

/* Where hardware takes interrupts nobody is told. */
static void taken_unseen(void **state)
{
	send(0, VECTOR);
	set_irr(VECTOR, false);
	assert_int_equal(facts(0), 0);
	fake_clock += 5 * MSEC;
	kvm_yield_forget_ipis(fake_vcpu(1));
	set_irr(VECTOR, true);
	assert_int_equal(facts(0), 0);

	/* Just noted, and not yet made pending: not forgotten. */
	set_irr(VECTOR, false);
	fake_running = fake_vcpu(0);
	kvm_yield_note_avic_ipi(fake_vcpu(1), VECTOR);
	kvm_yield_forget_ipis(fake_vcpu(1));
	set_irr(VECTOR, true);
	assert_int_equal(facts(0), FROM_ME);

	/* Still pending when its CPU is lost: not forgotten. */
	fake_clock += 5 * MSEC;
	kvm_yield_forget_ipis(fake_vcpu(1));
	assert_int_equal(facts(0), FROM_ME);
}

static void posted_by_hardware(void **state)
{
	send(0, VECTOR);
	set_irr(VECTOR, false);
	fake_vcpu(1)->fake_posted = true;
	assert_int_equal(facts(0), FROM_ME);
}

static void only_under_the_policy(void **state)
{
	send(0, VECTOR);
	fake_detach();
	fake_clock += 5 * MSEC;
	assert_int_equal(fake_attach(&fake_scripted), 0);
	assert_int_equal(facts(0), 0);
	fake_detach();
	fake_clock += 5 * MSEC;
	send(2, VECTOR);
	assert_int_equal(fake_attach(&fake_scripted), 0);
	assert_int_equal(facts(2), 0);
}

static void other_vms_do_not_count(void **state)
{
	struct kvm stranger = { };
	struct kvm_vcpu sender = { .kvm = &stranger };

	fake_running = &sender;
	kvm_yield_note_avic_ipi(fake_vcpu(1), VECTOR);
	set_irr(VECTOR, true);
	assert_int_equal(facts(0), 0);
}

static void no_apic_no_facts(void **state)
{
	send(0, VECTOR);
	fake_vcpu(1)->arch.apic = NULL;
	assert_int_equal(facts(0), 0);
	kvm_yield_forget_ipis(fake_vcpu(1));
}

static void every_vector_and_sender(void **state)
{
	unsigned int v;

	fake_vcpu(0)->vcpu_idx = KVM_MAX_VCPUS - 1;
	for (v = 0; v < 256; v++) {
		send(0, v);
		assert_int_equal(facts(0), FROM_ME);
		assert_int_equal(facts(2), KVM_YIELD_IPI);
		ack(v);
		delivered();
		assert_int_equal(facts(0), 0);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, fake_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_sender_is_told),
		TEST(devices_send_no_ipis),
		TEST(nobody_sends_to_itself),
		TEST(taken_means_forgotten),
		TEST(other_vectors_stay),
		TEST(several_senders),
		TEST(again_is_no_second_pair),
		TEST(goes_stale),
		TEST(taken_unseen),
		TEST(posted_by_hardware),
		TEST(only_under_the_policy),
		TEST(other_vms_do_not_count),
		TEST(no_apic_no_facts),
		TEST(every_vector_and_sender),
	};

	setenv("CMOCKA_MESSAGE_OUTPUT", "TAP", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
