# SPDX-License-Identifier: GPL-2.0
# KVM's three modules for a stock Debian kernel.

KERNEL_FILES := $(shell find kernel/include kernel/virt kernel/arch kernel/patches -type f)

# kbuild TREE [FLAGS]: compile the KVM of a tree made by kernel/mktree.
kbuild = $(MAKE) -C $(KHDR) M=$(1)/arch/x86/kvm -j$(JOBS) $(2) modules
# Our options, to kbuild and to the compiler: Debian's headers know neither.
kvm_options := CONFIG_KVM_YIELD_BPF CONFIG_KVM_VM_DEBUGFS
kvm_flags := $(kvm_options:%=%=y) KCFLAGS="$(kvm_options:%=-D%=1)"

.PHONY: fetch modules stock-modules
fetch: $(DEB)/.done

modules: $(MODS)/.ours

$(MODS)/.ours: kernel/mktree $(KERNEL_FILES)
	$(call say,TREE,$(OUT)/kvm)
	$(Q)mkdir -p $(OUT)/kvm $(MODS)
	$(Q)kernel/mktree $(KSRC) $(OUT)/kvm all
	$(call say,KBUILD,"kvm.ko kvm-amd.ko kvm-intel.ko (a minute or two)")
	$(Q)$(call kbuild,$(OUT)/kvm,$(kvm_flags)) >$(OUT)/kvm.log 2>&1 || \
		{ grep -E 'error|Error' -A3 $(OUT)/kvm.log | head -40; tail -5 $(OUT)/kvm.log; \
		  echo "make modules: KVM does not build; the whole log is $(OUT)/kvm.log" >&2; exit 1; }
	$(Q)cp $(OUT)/kvm/arch/x86/kvm/{kvm,kvm-amd,kvm-intel}.ko $(MODS)/
	$(Q)rm -f $(MODS)/*.xz; touch $@

stock-modules: $(OUT)/stock/.done

# Debian's KVM, compiled by us: what shows that the build is Debian's own.
$(OUT)/stock/.done: kernel/mktree
	$(Q)mkdir -p $(OUT)/stock
	$(Q)kernel/mktree $(KSRC) $(OUT)/stock
	$(call say,KBUILD,"unpatched KVM (a minute or two)")
	$(Q)$(call kbuild,$(OUT)/stock) >$(OUT)/stock.log 2>&1 || \
		{ tail -20 $(OUT)/stock.log; echo "unpatched KVM does not build" >&2; exit 1; }
	$(Q)touch $@

# A KVM that shows no VM in debugfs, for its test. As the modules, but for that option.
.PHONY: hidden-modules
hidden-modules: $(MODS)/hidden/.done

$(MODS)/hidden/.done: $(MODS)/.ours
	$(Q)mkdir -p $(OUT)/hidden $(@D)
	$(Q)kernel/mktree $(KSRC) $(OUT)/hidden all
	$(call say,KBUILD,"KVM without per-VM debugfs (a minute or two)")
	$(Q)$(call kbuild,$(OUT)/hidden,CONFIG_KVM_YIELD_BPF=y KCFLAGS=-DCONFIG_KVM_YIELD_BPF=1) >$(OUT)/hidden.log 2>&1 || \
		{ tail -20 $(OUT)/hidden.log; echo "KVM without per-VM debugfs does not build" >&2; exit 1; }
	$(Q)cp $(OUT)/hidden/arch/x86/kvm/{kvm,kvm-amd}.ko $(@D)/
	$(Q)touch $@

$(VMLINUX_H): $(MODS)/.ours $(BPFTOOL)
	$(call say,BTF,$@)
	$(Q)$(BPFTOOL) -B $(KHDR)/vmlinux btf dump file $(MODS)/kvm.ko format c >$@

# The guest's half of the hint, for a guest with a stock Debian kernel.
GUEST_MODULE := $(OUT)/guest/kvm_preempt_count.ko

.PHONY: guest-module
guest-module: $(GUEST_MODULE)

$(GUEST_MODULE): kernel/arch/x86/kernel/kvm_preempt_count.c kernel/kernel.mk | $(DEB)/.done
	$(call say,KBUILD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)cp $< $(@D)/
	$(Q)echo 'obj-m := kvm_preempt_count.o' >$(@D)/Kbuild
	$(Q)$(MAKE) -C $(KHDR) M=$(@D) modules >$(@D)/log 2>&1 || \
		{ tail -20 $(@D)/log; echo "make guest-module: it does not build; the whole log is $(@D)/log" >&2; exit 1; }
	$(Q)strip -g $@
