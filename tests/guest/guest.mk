# SPDX-License-Identifier: GPL-2.0
# The little guests: programs that run in the lab, as $(BIN)/test-NAME.

GUEST_TESTS := choices facts msr hostile lockwork churn uevents vmfiles manyvms
GUEST_BINS := $(GUEST_TESTS:%=$(BIN)/test-%)
TG := $(B)/tests/guest

.PHONY: guest-tests
guest-tests: $(GUEST_BINS)

.SECONDARY: $(TG)/tracer.bpf.o $(TG)/tracer.skel.h $(TG)/facts.bpf.o $(TG)/facts.skel.h \
	$(TG)/vm.o $(TG)/frozen.o $(TG)/states.o $(GUEST_TESTS:%=$(TG)/%.o)
$(TG)/%.bpf.o: tests/guest/%.bpf.c $(wildcard tests/guest/*.h) $(wildcard include/*.bpf.h) $(VMLINUX_H) $(LIBBPF_A)
	$(call say,BPF,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -Itests/guest -c $< -o $@
	$(Q)$(LLVM_STRIP) -g $@

$(TG)/%.skel.h: $(TG)/%.bpf.o $(BPFTOOL)
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf >$@

$(TG)/%.o: tests/guest/%.c $(wildcard tests/guest/*.h) $(LIBBPF_A)
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_USER) -I$(LIBBPF)/include -I$(TG) -Itests/guest -c $< -o $@

$(TG)/choices.o: $(TG)/tracer.skel.h
$(TG)/facts.o $(TG)/msr.o: $(TG)/facts.skel.h

$(BIN)/test-%: $(TG)/%.o $(TG)/vm.o $(TG)/frozen.o $(TG)/states.o $(LIBBPF_A)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -static -pthread $^ -lelf -lz -o $@

# Policies that only tests load.
guest-tests: $(TG)/fixed.bpf.o $(TG)/hinted.bpf.o

# What the test of the hint has in its guest, as an archive that is added to the guest's own.
KMOD := $(OUT)/guest-kmod
HINT_CPIO := $(TG)/hint.cpio
guest-tests: $(HINT_CPIO)

$(KMOD)/hint_states.ko: tests/guest-kmod/hint_states.c tests/guest/guest.mk
	$(call say,KBUILD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)cp $< $(@D)/
	$(Q)echo 'obj-m := hint_states.o' >$(@D)/Kbuild
	$(Q)$(MAKE) -C $(KHDR) M=$(@D) modules >$(@D)/log 2>&1 || { tail -20 $(@D)/log; exit 1; }
	$(Q)strip -g $@

$(TG)/other-kernel: tests/guest-kmod/other_kernel.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS_USER) -static $< -o $@

$(HINT_CPIO): $(KMOD)/hint_states.ko $(TG)/other-kernel
	$(Q)rm -rf $(TG)/hint && mkdir -p $(TG)/hint/lib $(TG)/hint/bin
	$(Q)cp $(KMOD)/hint_states.ko $(TG)/hint/lib/
	$(Q)cp $(TG)/other-kernel $(TG)/hint/bin/
	$(Q)cd $(TG)/hint && find . -mindepth 2 | cpio --quiet -o -H newc -R 0:0 >$@

LAB_OBJS := $(patsubst tests/lab/objects/%.c,$(B)/tests/lab/%.o,$(wildcard tests/lab/objects/*.c))
guest-tests: $(LAB_OBJS)
$(B)/tests/lab/%.bpf.o: tests/lab/objects/%.bpf.c $(wildcard include/*.bpf.h) $(VMLINUX_H) $(LIBBPF_A)
	$(call say,BPF,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -c $< -o $@
	$(Q)$(LLVM_STRIP) -g $@
