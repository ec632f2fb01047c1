// SPDX-License-Identifier: GPL-2.0
/*
 * The reading of Linux's preempt_count: each field alone, all of them together,
 * and nothing where there is no hint.
 */
#include "fake_kvm.h"

#define _license license_of_hint_test
#include "kvmyield_preempt.bpf.h"

#define IN_KERNEL	(KVM_YIELD_PREEMPTED | KVM_YIELD_KERNEL | KVM_YIELD_HINT_VALID)
#define IN_USER		(IN_KERNEL & ~KVM_YIELD_KERNEL)

struct reading {
	u32	depth;
	bool	serves_softirq, bh_disabled, hardirq, nmi, needs_resched, critical;
};

static struct reading read_word(u32 facts, u32 word)
{
	const struct kvm_yield_candidate cand = { .facts = facts, .hint = word };

	return (struct reading) {
		.depth = kvmyield_preempt_depth(&cand),
		.serves_softirq = kvmyield_serves_softirq(&cand),
		.bh_disabled = kvmyield_bh_disabled(&cand),
		.hardirq = kvmyield_in_hardirq(&cand),
		.nmi = kvmyield_in_nmi(&cand),
		.needs_resched = kvmyield_needs_resched(&cand),
		.critical = kvmyield_in_critical_section(&cand),
	};
}

static bool same(const struct reading *a, const struct reading *b)
{
	return a->depth == b->depth && a->serves_softirq == b->serves_softirq &&
	       a->bh_disabled == b->bh_disabled && a->hardirq == b->hardirq &&
	       a->nmi == b->nmi && a->needs_resched == b->needs_resched &&
	       a->critical == b->critical;
}

/* Words as Linux makes them, and what they say. */
static const struct {
	const char	*what;
	u32		word;
	struct reading	reading;
} words[] = {
	{ "nothing", 0x80000000, { 0 } },
	{ "should reschedule", 0x00000000, { .needs_resched = true } },
	{ "a spinlock", 0x80000001, { .depth = 1, .critical = true } },
	{ "a spinlock, and should reschedule", 0x00000001,
	  { .depth = 1, .needs_resched = true, .critical = true } },
	{ "as deep as it gets", 0x800000ff, { .depth = 255, .critical = true } },
	{ "bottom halves off", 0x80000200, { .bh_disabled = true, .critical = true } },
	{ "often", 0x8000fe00, { .bh_disabled = true, .critical = true } },
	{ "a softirq", 0x80000100, { .serves_softirq = true, .critical = true } },
	{ "a softirq that turns bottom halves off", 0x80000300,
	  { .serves_softirq = true, .bh_disabled = true, .critical = true } },
	{ "an interrupt", 0x80010000, { .hardirq = true, .critical = true } },
	{ "interrupts in interrupts", 0x80080000, { .hardirq = true, .critical = true } },
	{ "an NMI", 0x80110000, { .hardirq = true, .nmi = true, .critical = true } },
	{ "NMIs in NMIs", 0x80800000, { .nmi = true, .critical = true } },
	{ "bits that Linux does not use", 0xff000000, { 0 } },
	{ "an interrupt in a softirq under a lock", 0x80010102,
	  { .depth = 2, .serves_softirq = true, .hardirq = true, .critical = true } },
};

static void reads_what_linux_writes(void **state)
{
	struct reading got;
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(words); i++) {
		got = read_word(IN_KERNEL, words[i].word);
		if (!same(&got, &words[i].reading))
			fail_msg("%s (%x) is misread", words[i].what, words[i].word);
	}
}

static void reads_nothing_without_a_hint(void **state)
{
	const struct reading nothing = { 0 };
	struct reading got;
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(words); i++) {
		got = read_word(IN_KERNEL & ~KVM_YIELD_HINT_VALID, words[i].word);
		assert_true(same(&got, &nothing));
	}
}

/* The fields are told as they are; only the section is not believed. */
static void believes_the_host_about_user_mode(void **state)
{
	struct reading want, got;
	unsigned int i;

	for (i = 0; i < ARRAY_LEN(words); i++) {
		want = words[i].reading;
		want.critical = false;
		got = read_word(IN_USER, words[i].word);
		assert_true(same(&got, &want));
	}
}

/* Each bit alone belongs to one field, or to none. */
static void every_bit_has_one_place(void **state)
{
	struct reading r;
	unsigned int bit, fields;

	for (bit = 0; bit < 32; bit++) {
		r = read_word(IN_KERNEL, 1u << bit);
		fields = !!r.depth + r.serves_softirq + r.bh_disabled + r.hardirq + r.nmi;
		assert_int_equal(fields, bit < 24);
		assert_int_equal(r.critical, bit < 24);
		assert_int_equal(r.needs_resched, bit != 31);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_what_linux_writes),
		cmocka_unit_test(reads_nothing_without_a_hint),
		cmocka_unit_test(believes_the_host_about_user_mode),
		cmocka_unit_test(every_bit_has_one_place),
	};

	setenv("CMOCKA_MESSAGE_OUTPUT", "TAP", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
