# SPDX-License-Identifier: GPL-2.0
# kvmyield, and the libbpf 1.5 and bpftool 7.5 that come with the kernel's source.

BPFTOOL_OUT	:= $(B)/bpftool
BPFTOOL_TREE	:= $(BPFTOOL_OUT)/tree
BPFTOOL_PATCHES	:= $(addprefix kernel/patches/bpftool/,$(shell cat kernel/patches/bpftool/series))
LOADER_OUT	:= $(B)/loader
LOADER_SRC	:= $(wildcard loader/*.c)
LOADER_SRC	:= $(filter-out %.bpf.c,$(LOADER_SRC))
LOADER_OBJ	:= $(LOADER_SRC:loader/%.c=$(LOADER_OUT)/%.o)
LOADER_SKEL	:= $(LOADER_OUT)/status.skel.h

# The kernel's own UAPI headers: Debian's are of 6.1 and know less of BPF links.
LOADER_CFLAGS	= $(CFLAGS_USER) -D_GNU_SOURCE -Iinclude -Iloader -I$(LOADER_OUT) \
		  -I$(LIBBPF)/include -isystem $(KSRC)/tools/include/uapi
LOADER_LIBS	:= -ljansson -lelf -lz
LOADER_LDFLAGS	:= -static

# Where a make of ours calls one of the kernel's, its variables must not follow.
kernel_make	= env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL $(MAKE) --no-print-directory -s -j$(JOBS)

.PHONY: loader
loader: $(BIN)/kvmyield

$(LIBBPF_A): | $(DEB)/.done
	$(call say,LIBBPF,$@)
	@mkdir -p $(LIBBPF)
	$(Q)$(kernel_make) -C $(KSRC)/tools/lib/bpf OUTPUT=$(LIBBPF)/ DESTDIR=$(LIBBPF) prefix= \
		$@ install_headers >$(LIBBPF)/log 2>&1 || { cat $(LIBBPF)/log >&2; exit 1; }

# The kernel's tools as they are, but for bpftool, which is a copy with our patches.
$(BPFTOOL_TREE)/.patched: kernel/patches/bpftool/series $(BPFTOOL_PATCHES) loader/loader.mk | $(DEB)/.done
	@rm -rf $(BPFTOOL_TREE) && mkdir -p $(BPFTOOL_TREE)/tools/bpf
	$(Q)ln -s $(KSRC)/kernel $(BPFTOOL_TREE)/kernel
	$(Q)ln -s $(filter-out %/bpf,$(wildcard $(KSRC)/tools/*)) $(BPFTOOL_TREE)/tools/
	$(Q)cp -r $(KSRC)/tools/bpf/bpftool $(BPFTOOL_TREE)/tools/bpf/
	$(Q)for p in $(BPFTOOL_PATCHES); do \
		patch -s -p1 -F0 -d $(BPFTOOL_TREE) <$$p || { \
		echo "make: the patch $$p does not apply to the bpftool of this kernel" >&2; exit 1; }; \
	done
	@touch $@

$(BPFTOOL): $(BPFTOOL_TREE)/.patched
	$(call say,BPFTOOL,$@)
	@mkdir -p $(BPFTOOL_OUT) $(@D)
	$(Q)$(kernel_make) -C $(BPFTOOL_TREE)/tools/bpf/bpftool OUTPUT=$(BPFTOOL_OUT)/ CLANG=$(CLANG) \
		>$(BPFTOOL_OUT)/log 2>&1 || { cat $(BPFTOOL_OUT)/log >&2; exit 1; }
	$(Q)install -m 755 $(BPFTOOL_OUT)/bpftool $@

$(LOADER_OUT)/status.bpf.o: loader/status.bpf.c include/kvmyield_status.h $(LIBBPF_A) loader/loader.mk
	$(call say,BPF,$@)
	@mkdir -p $(@D)
	$(Q)$(CLANG) -target bpf -g -O2 -mcpu=v3 -Wall -Wextra -Wno-unused-parameter -Werror -Iinclude \
		-I$(LIBBPF)/include -isystem $(KSRC)/tools/include/uapi \
		-isystem /usr/include/x86_64-linux-gnu -c $< -o $@

$(LOADER_SKEL): $(LOADER_OUT)/status.bpf.o $(BPFTOOL)
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name status_bpf >$@

$(LOADER_OUT)/%.o: loader/%.c loader/loader.mk $(LIBBPF_A) | $(LOADER_SKEL)
	$(call say,CC,$@)
	$(Q)$(CC) $(LOADER_CFLAGS) -MMD -MP -c $< -o $@

$(LOADER_OUT)/hook.o: $(LOADER_SKEL)

$(BIN)/kvmyield: $(LOADER_OBJ) $(LIBBPF_A)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LOADER_LDFLAGS) -o $@ $(LOADER_OBJ) $(LIBBPF_A) $(LOADER_LIBS)

# Which facts a host supplies, also where the lab has no such host.
$(B)/tests/unit/supply_test.t: tests/unit/supply_test.c loader/facts.c $(wildcard loader/*.h) \
		include/kvmyield_status.h loader/loader.mk
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LOADER_CFLAGS) -fsanitize=address,undefined -fno-sanitize-recover=all \
		$(filter %.c,$^) -lcmocka -ljansson -o $@

# What kernels may tell of VMs, also those that the lab does not have.
STATS_TESTED := $(addprefix loader/,stats_read.c stats_unit.c stats_prom.c output.c error.c)
$(B)/tests/unit/stats_test.t: tests/unit/stats_test.c $(STATS_TESTED) $(wildcard loader/*.h) loader/loader.mk
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LOADER_CFLAGS) -fsanitize=address,undefined -fno-sanitize-recover=all \
		$(filter %.c,$^) -lcmocka -ljansson -o $@

-include $(LOADER_OBJ:.o=.d)
