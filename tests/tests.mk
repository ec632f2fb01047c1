# SPDX-License-Identifier: GPL-2.0
# The tests. check: what needs no root and no lab; test: everything there is.

UNIT_NAMES := $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/*_test.c))
UNIT_TESTS := $(UNIT_NAMES:%=$(B)/tests/unit/%.t)
BUILD_TESTS := tests/build/crc.t tests/build/series.t tests/build/guest.t
# Quick, and without a build.
PATH_TEST := tests/build/path.t
LINT_TEST := tests/build/lint.t tests/build/preempt.t
# Other parts bring theirs.
CLI_TESTS = $(sort $(wildcard tests/cli/*.t))
LAB_TESTS = $(sort $(wildcard tests/lab/*.t tests/cross/*.t))

UNIT := $(B)/tests/unit
UNIT_FLAGS := $(CFLAGS_USER) -fsanitize=address,undefined -fno-sanitize-recover=all \
	-DCONFIG_KVM_YIELD_BPF=1 -DCONFIG_HAVE_KVM_CPU_RELAX_INTERCEPT=1 \
	-Itests/unit -Itests/unit/shim -Ikernel/include -MMD -MP
# The hook's own files, as they are, and what stands for the kernel below them.
UNIT_COMMON := $(addprefix $(UNIT)/,yield.o yield_policy.o yield_vms.o fake_kvm.o fake_policy.o ranking.o)
UNIT_POLICIES := $(patsubst bpf/%.bpf.c,$(UNIT)/%.bpf.o,$(wildcard bpf/*.bpf.c))

$(UNIT)/%.o: kernel/virt/kvm/%.c tests/tests.mk
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(UNIT_FLAGS) -Wno-sign-compare -c $< -o $@

$(UNIT)/%.o: kernel/arch/x86/kvm/%.c tests/tests.mk
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(UNIT_FLAGS) -Itests/unit/shim/x86 -Wno-sign-compare -c $< -o $@

$(UNIT)/%.o: tests/unit/%.c tests/tests.mk
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(UNIT_FLAGS) -c $< -o $@

# All policies go into one program: what they name alike gets a name for each.
$(UNIT)/%.bpf.o: bpf/%.bpf.c tests/tests.mk
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(UNIT_FLAGS) -Iinclude -D_license=license_$* -Dkvmyield_desc=desc_$* \
		-D$*=policy_$* -c $< -o $@

.SECONDARY: $(UNIT_COMMON) $(UNIT_POLICIES) $(UNIT_NAMES:%=$(UNIT)/%.o)
$(UNIT)/%.t: $(UNIT)/%.o $(UNIT_COMMON) $(UNIT_POLICIES)
	$(call say,LINK,$@)
	$(Q)$(CC) -fsanitize=address,undefined $^ -lcmocka -o $@

# What policies include, also without a policy around it.
$(UNIT)/hint_test.o: UNIT_FLAGS += -Iinclude

# Not in all of them: the others fake what x86 says.
$(UNIT)/ipi_test.t: $(UNIT)/yield_ipi.o

-include $(wildcard $(UNIT)/*.d)

.PHONY: unit check test
unit: $(UNIT_TESTS)
	$(Q)tests/run $(UNIT_TESTS)

check: modules guest-module policies loader summary $(UNIT_TESTS)
	$(Q)tests/run $(LINT_TEST) $(PATH_TEST) $(UNIT_TESTS) $(CLI_TESTS)

test: modules guest-module policies loader summary lab $(UNIT_TESTS) stock-modules hidden-modules
	$(Q)tests/run $(LINT_TEST) $(PATH_TEST) $(UNIT_TESTS) $(CLI_TESTS) $(BUILD_TESTS) $(LAB_TESTS)
