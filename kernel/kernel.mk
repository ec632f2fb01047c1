# SPDX-License-Identifier: GPL-2.0
# KVM's three modules for a stock Debian kernel.

KERNEL_FILES := $(shell find kernel/include kernel/virt kernel/arch kernel/patches -type f)
STOCK_MODS := $(KROOT)/lib/modules/$(KVER)/kernel/arch/x86/kvm

# kbuild TREE [FLAGS]: compile the KVM of a tree made by kernel/mktree.
kbuild = $(MAKE) -C $(KHDR) M=$(1)/arch/x86/kvm -j$(JOBS) $(2) modules
yield_flags := CONFIG_KVM_YIELD_BPF=y KCFLAGS=-DCONFIG_KVM_YIELD_BPF=1

.PHONY: kver fetch modules stock-modules
# Changing KVER= changes what everything below is built for.
kver:
	$(Q)mkdir -p $(B)
	$(Q)k="$(kver_chosen)"; [ -n "$$k" ] || k=$$(cat $(B)/kver 2>/dev/null) || k=$$(kernel/fetch pick); \
	[ -n "$$k" ] && { [ "$$k" = "$$(cat $(B)/kver 2>/dev/null)" ] || echo "$$k" >$(B)/kver; }

fetch: $(DEB)/.done

$(DEB)/.done:
	$(call say,FETCH,$(KVER))
	$(Q)kernel/fetch get $(KVER) $(DEB)

modules: $(MODS)/.ours

$(MODS)/.ours: $(DEB)/.done kernel/mktree $(KERNEL_FILES)
	$(call say,TREE,$(OUT)/kvm)
	$(Q)mkdir -p $(OUT)/kvm $(MODS)
	$(Q)kernel/mktree $(KSRC) $(OUT)/kvm all
	$(call say,KBUILD,"kvm.ko kvm-amd.ko kvm-intel.ko (a minute or two)")
	$(Q)$(call kbuild,$(OUT)/kvm,$(yield_flags)) >$(OUT)/kvm.log 2>&1 || \
		{ grep -E 'error|Error' -A3 $(OUT)/kvm.log | head -40; tail -5 $(OUT)/kvm.log; \
		  echo "make modules: KVM does not build; the whole log is $(OUT)/kvm.log" >&2; exit 1; }
	$(Q)cp $(OUT)/kvm/arch/x86/kvm/{kvm,kvm-amd,kvm-intel}.ko $(MODS)/
	$(Q)rm -f $(MODS)/*.xz; touch $@

stock-modules: $(OUT)/stock/.done

# Debian's KVM, compiled by us: what shows that the build is Debian's own.
$(OUT)/stock/.done: $(DEB)/.done kernel/mktree
	$(Q)mkdir -p $(OUT)/stock
	$(Q)kernel/mktree $(KSRC) $(OUT)/stock
	$(call say,KBUILD,"unpatched KVM (a minute or two)")
	$(Q)$(call kbuild,$(OUT)/stock) >$(OUT)/stock.log 2>&1 || \
		{ tail -20 $(OUT)/stock.log; echo "unpatched KVM does not build" >&2; exit 1; }
	$(Q)touch $@

$(VMLINUX_H): $(MODS)/.ours $(BPFTOOL)
	$(call say,BTF,$@)
	$(Q)$(BPFTOOL) -B $(KHDR)/vmlinux btf dump file $(MODS)/kvm.ko format c >$@
