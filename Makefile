# SPDX-License-Identifier: GPL-2.0
# kvmyield: make demo, make test; make help for the rest.

include mk/config.mk

.PHONY: help clean
help:
	@echo "make demo       the main job, on the screen: three policies in an emulated host"
	@echo "make bench-policies  every policy over the same Linux workloads; under an hour"
	@echo "make bench-tiny what a host pays for very many tiny VMs, with and without uevents and debugfs; half an hour"
	@echo "make tiny-profile  what a tiny VM pays for between open and close: KVM's calls, traced"
	@echo "make test       every test; ends with 'N passed, N failed, N skipped'"
	@echo "make check      the tests that need no root and no lab, in under a minute"
	@echo "make modules    kvm.ko, kvm-amd.ko and kvm-intel.ko for a stock Debian 6.12 kernel"
	@echo "make guest-module  kvm_preempt_count.ko, which a stock Debian 6.12 guest loads to share its hint"
	@echo "make loader     build/bin/kvmyield, one static file"
	@echo "make policies   build/policies/*.bpf.o"
	@echo "make lab        what lab/run needs; then lab/run -- COMMAND, or lab/run for a shell"
	@echo "make clean      remove what was built; the downloaded kernel stays (make distclean)"
	@echo
	@echo "KVER=6.12.117+deb12-amd64 chooses a kernel, and is remembered; V=1 shows commands."

clean:
	rm -rf $(filter-out $(B)/debian $(B)/kver $(B)/deps,$(wildcard $(B)/*))

distclean:
	rm -rf $(B)

# Before anything can be built: Debian's packages, and which kernel it is for.
GOALS := demo bench-policies bench-counters bench-tiny tiny-profile hello test check modules guest-module stock-modules fetch loader policies lab unit lab-check guest-tests summary
READY := $(and $(KVER),$(wildcard $(B)/deps),$(wildcard $(DEB)/.done))

ifeq ($(READY),)

.PHONY: $(GOALS) prepare
$(GOALS): prepare
	@$(MAKE) --no-print-directory $@

prepare:
	$(Q)mkdir -p $(B)
	$(Q)mk/deps $(B)/deps
	$(Q)kver="$(KVER)"; [ -n "$$kver" ] || kver=$$(kernel/fetch newest) || exit 1; \
	echo "  KERNEL  $$kver"; \
	[ -e $(B)/debian/$$kver/.done ] || kernel/fetch get $$kver $(B)/debian/$$kver || exit 1; \
	echo $$kver >$(B)/kver

else

# A changed list of packages, or a KVER= that was fetched before.
$(B)/deps: mk/deps
	$(Q)mk/deps $@
ifneq ($(KVER),$(shell cat $(B)/kver))
$(shell echo $(KVER) >$(B)/kver)
endif
$(GOALS): $(B)/deps

include kernel/kernel.mk loader/loader.mk bpf/bpf.mk bench/policies.mk lab/lab.mk
include tests/guest/guest.mk bench/demo.mk bench/counters.mk bench/tiny.mk tests/tests.mk

lab: modules policies loader guest-tests

endif
