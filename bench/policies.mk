# SPDX-License-Identifier: GPL-2.0
# All policies over real workloads, and what the guests need for it. Before lab/lab.mk, for GUEST_FILES.

SHOOTDOWN	:= $(B)/bench/shootdown
DBENCH_LOAD	:= $(B)/bench/dbench.load
BENCH_ARGS	?=
GUEST_FILES	+= /usr/bin/pbzip2 /usr/bin/dbench $(SHOOTDOWN) $(DBENCH_LOAD):/share/dbench.load

$(SHOOTDOWN): bench/shootdown.c bench/policies.mk
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_USER) $< -o $@

# The first lines of dbench's load: all 26 MB would be memory lost to the guest. It is run in a circle, so what
# is left open is closed.
$(DBENCH_LOAD): /usr/share/dbench/client.txt bench/policies.mk
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)head -n 1000 $< | awk '{ print } \
		$$1 == "NTCreateX" && $$NF == "NT_STATUS_OK" { open[$$(NF - 1)] = 1 } \
		$$1 == "Close" { delete open[$$2] } \
		END { for (h in open) print "Close " h " NT_STATUS_OK" }' >$@

.PHONY: bench-policies
bench-policies: modules policies loader lab summary
	$(Q)bench/policies $(BENCH_ARGS)
