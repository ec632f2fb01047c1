# SPDX-License-Identifier: GPL-2.0
# The policies: bpf/NAME.bpf.c becomes build/policies/NAME.bpf.o.

POLICY_NAMES := $(patsubst bpf/%.bpf.c,%,$(wildcard bpf/*.bpf.c))
POLICY_OBJS := $(POLICY_NAMES:%=$(POLICIES)/%.bpf.o)
BPF_CFLAGS := -target bpf -mcpu=v3 -O2 -g -Wall -Werror -D__TARGET_ARCH_x86 \
	-Wno-missing-declarations -I$(OUT) -I$(LIBBPF)/include -Iinclude

.PHONY: policies
policies: $(POLICY_OBJS)

$(POLICIES)/%.bpf.o: bpf/%.bpf.c $(wildcard include/*.bpf.h) $(VMLINUX_H) $(LIBBPF_A)
	$(call say,BPF,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -c $< -o $@
	$(Q)$(LLVM_STRIP) -g $@
