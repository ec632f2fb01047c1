# SPDX-License-Identifier: GPL-2.0
# What a host pays for very many tiny VMs: the program that makes them, and the one that counts uevents.

HELLO		:= $(B)/bench/hello
UEVENTS		:= $(B)/bench/uevents

.PHONY: hello
hello: $(HELLO) $(UEVENTS)

$(HELLO): bench/hello.c bench/tinyvm.c bench/tinyvm.h bench/tiny.mk
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_USER) -static $(filter %.c,$^) -o $@

$(UEVENTS): bench/uevents.c bench/tiny.mk
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_USER) -static $< -o $@

# Their test is in the lab.
guest-tests: hello

BENCH_ARGS	?=

.PHONY: bench-tiny tiny-profile
bench-tiny: modules loader lab summary hello
	$(Q)bench/tiny $(BENCH_ARGS)

tiny-profile: modules loader lab hello
	$(Q)bench/tiny-profile $(BENCH_ARGS)
