#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Does the guest's half build in both of its forms, and without a warning? As a module make guest-module has
# built it; built in it goes by other code.
set -uo pipefail
. "$(dirname "$0")/lib.sh"

file=kernel/arch/x86/kernel/kvm_preempt_count.c

# compile HEADER-LINE: built in, after that line
compile() {
	mkdir -p "$tmp/in"
	{ echo "$1"; echo '#line 1'; cat "$file"; } >"$tmp/in/kvm_preempt_count.c"
	echo 'obj-y := kvm_preempt_count.o' >"$tmp/in/Kbuild"
	rm -f "$tmp/in/kvm_preempt_count.o"
	make -C "$khdr" M="$tmp/in" W=1 kvm_preempt_count.o >"$tmp/log" 2>&1 || { cat "$tmp/log"; return 1; }
	grep -E 'warning|error' "$tmp/log"
	nm "$tmp/in/kvm_preempt_count.o" >"$tmp/symbols"
	grep -q ' crash_shutdown$' "$tmp/symbols" || echo "it does not hook crash_shutdown()"
	! grep -q ' die_notify$' "$tmp/symbols" || echo "it is the module's code"
}

module() {
	grep -E 'warning:' "$out/guest/log"
	/sbin/modinfo -F vermagic "$out/guest/kvm_preempt_count.ko" | grep -q "^$kver " || echo "not for $kver"
	/sbin/modinfo -F depends "$out/guest/kvm_preempt_count.ko" | grep .
	return 0
}

plan 3
silent "built into a kernel whose headers do not know the MSR" compile ""
silent "and into one whose headers do" compile \
	"$(sed -n 's/^+\(#define .*PREEMPT_COUNT.*\)/\1/p' kernel/patches/6.12/0002-hint-uapi.patch)"
silent "as a module for $kver, which needs no other" module
finish
