// SPDX-License-Identifier: GPL-2.0
/* loader/facts.c: which facts hosts supply that the lab does not have. */
/* First: cmocka has a fail() of its own. */
#include "facts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#define ALL	((1U << (FACT_WOKEN + 1)) - 1)
#define NO_APICV	(ALL & ~(1U << FACT_APICV_INTERRUPT))

static const struct supplier plain = { .mask = NO_APICV };
static const struct supplier avic = { .mask = ALL };
static const struct supplier intel = { .mask = ALL, .intel = true };
static const struct supplier ipiv = { .mask = ALL, .intel = true, .ipiv = true };
static const struct supplier sev_es = { .mask = NO_APICV, .sev = true, .sev_es = true };

static const struct vm hinted = { .pid = 1, .nr_vcpus = 4, .nr_hinted = 4 };

/* @says: part of the reason */
static void supplies(const struct supplier *by, const struct vm *vm,
		     enum fact fact, enum supplied state, const char *says)
{
	char name[16];
	struct supply s;

	fact_supply(&s, by, vm, fact);
	if (s.state != state || !strstr(s.why, says))
		fail_msg("%s: state %d and not %d: %s",
			 fact_name(fact, name, sizeof(name)), s.state, state,
			 s.why);
}

/* Of all facts just those in @partly and @missing are so. */
static void lacks(const struct supplier *by, const struct vm *vm,
		  __u32 partly, __u32 missing)
{
	unsigned int i;

	for (i = 0; fact_known(i); i++)
		supplies(by, vm, i, missing & (1U << i) ? NOT_SUPPLIED :
			 partly & (1U << i) ? PARTLY_SUPPLIED : SUPPLIED, "");
	assert_int_equal(i, FACT_WOKEN + 1);
}

#define BIT(fact)	(1U << FACT_ ## fact)
#define IPIS		(BIT(IPI) | BIT(IPI_FROM_SPINNER))

static void plain_host(void **state)
{
	lacks(&plain, NULL, 0, BIT(APICV_INTERRUPT));
	lacks(&plain, &hinted, 0, BIT(APICV_INTERRUPT));
	supplies(&plain, NULL, FACT_APICV_INTERRUPT, NOT_SUPPLIED, "avic=N");
}

static void old_kernel(void **state)
{
	struct supplier old = { .mask = BIT(PREEMPTED) | BIT(KERNEL) };

	lacks(&old, NULL, 0, ALL & ~old.mask);
	supplies(&old, NULL, FACT_HINT, NOT_SUPPLIED, "this KVM does not tell");
	supplies(&old, &hinted, FACT_IPI, NOT_SUPPLIED, "this KVM does not tell");
}

static void avic_hides_ipis(void **state)
{
	struct vm vm = hinted;

	lacks(&avic, NULL, IPIS, 0);
	supplies(&avic, NULL, FACT_IPI, PARTLY_SUPPLIED, "AVIC");
	/* Inhibited in this VM, say by its use of an old PIC. */
	lacks(&avic, &vm, 0, BIT(APICV_INTERRUPT));
	supplies(&avic, &vm, FACT_APICV_INTERRUPT, NOT_SUPPLIED, "in this VM");
	vm.flags = VM_APICV;
	lacks(&avic, &vm, IPIS, 0);
}

static void intel_hides_what_hardware_delivers(void **state)
{
	struct supplier off = { .mask = NO_APICV, .intel = true, .ipiv = true };
	struct vm vm = hinted;

	vm.flags = VM_APICV;
	lacks(&intel, NULL, 0, 0);
	lacks(&intel, &vm, 0, 0);
	lacks(&ipiv, NULL, IPIS, 0);
	lacks(&ipiv, &vm, IPIS, 0);
	supplies(&ipiv, &vm, FACT_IPI_FROM_SPINNER, PARTLY_SUPPLIED, "enable_ipiv=Y");
	lacks(&off, NULL, 0, BIT(APICV_INTERRUPT));
	supplies(&off, NULL, FACT_APICV_INTERRUPT, NOT_SUPPLIED, "enable_apicv=N");
}

static void encryption(void **state)
{
	struct supplier sev = { .mask = NO_APICV, .sev = true };
	struct vm vm = { .pid = 1, .nr_vcpus = 4, .flags = VM_ENCRYPTED };

	lacks(&sev, &vm, 0, BIT(APICV_INTERRUPT) | BIT(HINT));
	supplies(&sev, &vm, FACT_HINT, NOT_SUPPLIED, "encrypted");
	lacks(&sev_es, &vm, BIT(KERNEL), BIT(APICV_INTERRUPT) | BIT(HINT));
	lacks(&sev_es, NULL, BIT(KERNEL), BIT(APICV_INTERRUPT));
	/* A plain VM beside it. */
	lacks(&sev_es, &hinted, 0, BIT(APICV_INTERRUPT));
}

static void user_apics(void **state)
{
	struct supplier by = { .mask = NO_APICV, .nr_vms = 2, .nr_hinted = 2,
			       .nr_user_apic = 1 };
	struct vm vm = hinted;

	vm.flags = VM_USER_APIC;
	lacks(&by, &vm, BIT(INTERRUPT),
	      BIT(APICV_INTERRUPT) | IPIS | BIT(KICKED) | BIT(WOKEN));
	lacks(&by, &hinted, 0, BIT(APICV_INTERRUPT));
	lacks(&by, NULL, BIT(INTERRUPT) | IPIS | BIT(KICKED) | BIT(WOKEN),
	      BIT(APICV_INTERRUPT));
	supplies(&by, NULL, FACT_WOKEN, PARTLY_SUPPLIED, "1 of 2 VMs");
}

static void hints(void **state)
{
	struct supplier by = { .mask = NO_APICV, .nr_vms = 3 };
	struct vm vm = { .pid = 1 };
	struct supply s;

	supplies(&by, &vm, FACT_HINT, NOT_SUPPLIED, "no vCPU yet");
	vm.nr_vcpus = 4;
	supplies(&by, &vm, FACT_HINT, NOT_SUPPLIED, "0 of its 4");
	vm.nr_hinted = 3;
	supplies(&by, &vm, FACT_HINT, PARTLY_SUPPLIED, "3 of its 4");
	fact_supply(&s, &by, &vm, FACT_HINT);
	assert_non_null(strstr(s.todo, "kvm_preempt_count"));
	supplies(&by, &hinted, FACT_HINT, SUPPLIED, "4 of its 4");
	fact_supply(&s, &by, &hinted, FACT_HINT);
	assert_null(s.todo);

	supplies(&by, NULL, FACT_HINT, PARTLY_SUPPLIED, "0 of 3 VMs");
	by.nr_hinted = 3;
	supplies(&by, NULL, FACT_HINT, SUPPLIED, "3 of 3 VMs");
	by.nr_vms = by.nr_hinted = 0;
	supplies(&by, NULL, FACT_HINT, SUPPLIED, "preempt_count");
}

static void vms_are_counted(void **state)
{
	struct vm vm[] = {
		hinted,
		{ .pid = 2, .nr_vcpus = 2, .flags = VM_USER_APIC },
		{ .pid = 3, .nr_vcpus = 2, .nr_hinted = 1, .flags = VM_ENCRYPTED },
	};
	struct vms vms = { .vm = vm, .n = 3, .known = true, .complete = true };
	struct supplier by;

	supplier_read(&by, "kvm_intel", ALL, &vms);
	assert_true(by.intel);
	assert_int_equal(by.mask, ALL);
	assert_int_equal(by.nr_vms, 3);
	assert_int_equal(by.nr_hinted, 2);
	assert_int_equal(by.nr_user_apic, 1);
}

static void names(void **state)
{
	char name[16];
	json_t *list = facts_json(BIT(HINT) | 1U << 30);

	assert_string_equal(fact_name(FACT_WOKEN, name, sizeof(name)), "woken");
	assert_string_equal(fact_name(31, name, sizeof(name)), "bit31");
	assert_int_equal(json_array_size(list), 2);
	assert_string_equal(json_string_value(json_array_get(list, 0)), "hint");
	assert_string_equal(json_string_value(json_array_get(list, 1)), "bit30");
	json_decref(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_host),
		cmocka_unit_test(old_kernel),
		cmocka_unit_test(avic_hides_ipis),
		cmocka_unit_test(intel_hides_what_hardware_delivers),
		cmocka_unit_test(encryption),
		cmocka_unit_test(user_apics),
		cmocka_unit_test(hints),
		cmocka_unit_test(vms_are_counted),
		cmocka_unit_test(names),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
