# SPDX-License-Identifier: GPL-2.0
# What counting costs: the hook's code, natively, as it is and with nothing counted.

COUNTERS	:= $(B)/bench/counters
COUNTERS_FLAGS	= $(CFLAGS_USER) -DCONFIG_KVM_YIELD_BPF=1 -DCONFIG_HAVE_KVM_CPU_RELAX_INTERCEPT=1 -Wno-sign-compare \
	-Wno-unused -Itests/unit -Itests/unit/shim -Ikernel/include -Ikernel/virt/kvm
COUNTERS_REST	:= $(addprefix kernel/virt/kvm/,yield_policy.c yield_vms.c) \
	$(addprefix tests/unit/,fake_kvm.c fake_policy.c) bench/counters.c

# The bodies of the two functions go, and there must be two.
$(COUNTERS)/yield-none.c: kernel/virt/kvm/yield.c bench/counters.mk
	$(Q)mkdir -p $(@D)
	$(Q)awk '/^static void kvm_yield_count(_facts)?\(/ { in_one = 1; n++ } \
		in_one && /^}/ { print "{\n}"; in_one = in_body = 0; next } \
		in_one && /^{/ { in_body = 1 } \
		!in_body { print } \
		END { exit n != 2 }' $< >$@

$(COUNTERS)/counters: kernel/virt/kvm/yield.c $(COUNTERS_REST) bench/counters.mk
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(COUNTERS_FLAGS) $(filter %.c,$^) -lcmocka -o $@

$(COUNTERS)/counters-none: $(COUNTERS)/yield-none.c $(COUNTERS_REST) bench/counters.mk
	$(call say,LINK,$@)
	$(Q)$(CC) $(COUNTERS_FLAGS) $(filter %.c,$^) -lcmocka -o $@

.PHONY: bench-counters
bench-counters: $(COUNTERS)/counters $(COUNTERS)/counters-none
	$(Q)bench/counters $(COUNTERS)
