# SPDX-License-Identifier: GPL-2.0
# The emulated host: its configuration and the two initramfs. Included by the top Makefile after
# mk/config.mk; "lab" gets its further prerequisites (modules, programs) there.

LAB_CONF	:= $(B)/lab.conf
LAB_HOST	:= $(B)/lab/host-$(KVER).cpio
LAB_GUEST	:= $(B)/lab/guest-$(KVER).cpio
# What else a guest's initramfs holds: SRC or SRC:DEST; programs bring their shared libraries.
GUEST_FILES	+= $(GUEST_MODULE):/lib/kvm_preempt_count.ko

.PHONY: lab lab-conf lab-check
lab: $(LAB_CONF) $(LAB_HOST) $(LAB_GUEST)

# Written anew only if it would differ.
$(LAB_CONF): lab-conf ;
lab-conf:
	$(Q)mkdir -p $(B)
	$(Q)printf '%s\n' "KVER='$(KVER)'" "KROOT='$(KROOT)'" "MODS='$(MODS)'" "BIN='$(BIN)'" \
		"GUEST_FILES=($(GUEST_FILES))" >$(LAB_CONF).new
	$(Q)if cmp -s $(LAB_CONF).new $(LAB_CONF); then rm $(LAB_CONF).new; \
		else mv $(LAB_CONF).new $(LAB_CONF); fi

$(LAB_HOST): lab/mkinitramfs lab/host-init lab/host-main $(LAB_CONF) | $(DEB)/.done
	$(call say,LAB,$(@F))
	$(Q)lab/mkinitramfs host $@

$(LAB_GUEST): lab/mkinitramfs lab/guest-init $(LAB_CONF) $(foreach f,$(GUEST_FILES),$(firstword $(subst :, ,$(f)))) \
		| $(DEB)/.done
	$(call say,LAB,$(@F))
	$(Q)lab/mkinitramfs guest $@

# No kernel and no root needed.
lab-check:
	$(Q)lab/splat-test
