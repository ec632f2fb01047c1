# SPDX-License-Identifier: GPL-2.0
# The table of a comparison, and the main job, shown on the screen.

BENCH_OUT	:= $(B)/bench
SUMMARY		:= $(BIN)/kvmyield-summary
SUMMARY_OBJ	:= $(addprefix $(BENCH_OUT)/,summary.o rounds.o stats.o)
DEMO_ARGS	?=
# Seconds: three times what it takes here, for a slower machine.
DEMO_TIMEOUT	?= 1080

.PHONY: summary demo
summary: $(SUMMARY)

$(BENCH_OUT)/%.o: bench/%.c bench/demo.mk
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_USER) -MMD -MP -c $< -o $@

$(SUMMARY): $(SUMMARY_OBJ)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -o $@ $^ -ljansson -lm

# The table's statistics, tested without a kernel. Its lines are as tests/run wants them.
$(B)/tests/unit/summary_test.t: tests/unit/summary_test.c bench/rounds.c bench/stats.c bench/rounds.h bench/stats.h bench/demo.mk
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_USER) -fsanitize=address,undefined -fno-sanitize-recover=all -Ibench \
		$(filter %.c,$^) -lcmocka -lm -o $@

demo: modules policies loader lab $(SUMMARY)
	$(Q)mkdir -p $(B)/demo
	$(Q)demo() { \
		lab/run --armed --timeout $(DEMO_TIMEOUT) --out $(B)/demo -- \
			bench/demo --results-name build/demo $(DEMO_ARGS); \
	}; \
	status=0; demo || status=$$?; \
	[ $$status -eq 123 ] || [ $$status -eq 126 ] || exit $$status; \
	printf '\nThe emulated host died, which QEMU does now and then. Once more, from the start.\n\n'; \
	demo

-include $(SUMMARY_OBJ:.o=.d)
