# SPDX-License-Identifier: GPL-2.0
# Names and places that every part of the build shares.

SHELL := /bin/bash
.DELETE_ON_ERROR:

# Make splits names at spaces: half a path would be written to, or deleted.
ifneq ($(words $(CURDIR)),1)
$(error the path of this clone, "$(CURDIR)", has a space in it; move it to a path that has none)
endif

B	:= $(CURDIR)/build
JOBS	?= $(shell nproc)

# The kernel to build for: KVER=, else the one of the last time.
ifeq ($(KVER),)
KVER	:= $(shell cat $(B)/kver 2>/dev/null)
endif

CLANG		?= clang-19
LLVM_STRIP	?= llvm-strip-19
DEB		:= $(B)/debian/$(KVER)
KROOT		:= $(DEB)/root
KSRC		:= $(DEB)/src
KHDR		:= $(KROOT)/usr/src/linux-headers-$(KVER)
OUT		:= $(B)/$(KVER)
# Our three modules; Debian's own are in KROOT.
MODS		:= $(OUT)/modules
LIBBPF		:= $(B)/libbpf
LIBBPF_A	:= $(LIBBPF)/libbpf.a
VMLINUX_H	:= $(OUT)/vmlinux.h
# Everything that is on PATH in the lab: kvmyield, bpftool, the tests' programs.
BIN		:= $(B)/bin
BPFTOOL		:= $(BIN)/bpftool
POLICIES	:= $(B)/policies

ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-7s %s\n' $(1) $(patsubst $(CURDIR)/%,%,$(2))
endif

CFLAGS_USER	:= -std=gnu11 -O2 -g -Wall -Wextra -Wno-unused-parameter \
		   -Wno-missing-field-initializers -Werror
