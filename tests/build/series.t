#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Are the patches a series? Each applies with no fuzz and builds on the ones
# before it, each says why, and a kernel that they do not fit is refused in words.
#
# Building is slow: what was built is remembered by a checksum of kernel/, and
# not built again until that changes.
set -uo pipefail
. "$(dirname "$0")/lib.sh"

patches=kernel/patches/6.12
tree=$out/series
mapfile -t series <"$patches/series"
nr=${#series[@]}
# No debug information and few optimisations: what is asked is whether it compiles.
on=(CONFIG_KVM_YIELD_BPF=y CONFIG_KVM_VM_DEBUGFS=y "KCFLAGS=-g0 -O1 -DCONFIG_KVM_YIELD_BPF=1 -DCONFIG_KVM_VM_DEBUGFS=1")

# The first patch that brings an option; before it there is nothing to switch on.
has_config() {
	grep -q 'config KVM_YIELD_BPF' "$tree/virt/kvm/Kconfig"
}

# Subject and body as `git am` would take them.
check_message() {
	local subject body
	git mailinfo "$tmp/body" "$tmp/diff" <"$1" >"$tmp/info" 2>&1 || return 1
	subject=$(sed -n 's/^Subject: //p' "$tmp/info")
	body=$(sed '/^---$/,$d; /^Signed-off-by:/d; /^No functional change/d' "$tmp/body" | grep -c '[a-z]')
	echo "subject: $subject (${#subject} characters); $body lines of body"
	[[ $subject =~ ^KVM:\ [A-Zx] ]] && [ "${#subject}" -le 75 ] && [ "$body" -ge 2 ]
}

checksum() {
	{ echo "$kver"; find kernel tests/build/series.t -type f -print0 | sort -z |
		xargs -0 sha256sum; } | sha256sum | cut -d' ' -f1
}

# build NAME [FLAGS]: nothing but this may have changed since the last one. BTF
# is left out here: `make modules` builds the whole series with it.
build() {
	local name=$1 rc=0 log=$out/series.log
	shift
	if grep -qxF "$sum $name" "$stamp" 2>/dev/null; then
		result 0 "$name builds (built before, unchanged)"
		return
	fi
	make -C "$khdr" M="$tree/arch/x86/kvm" -j"$(nproc)" CONFIG_DEBUG_INFO_BTF_MODULES= \
		"$@" modules >"$log" 2>&1 || rc=$?
	grep -E 'error|warning: |Error ' "$log" | grep -v 'vmlinux' >"$tmp/why" && rc=1
	[ "$rc" -eq 0 ] && echo "$sum $name" >>"$stamp"
	result $rc "$name builds" "$tmp/why"
}

# The few files of Linux that mktree takes, to be spoilt.
copy_source() {
	mkdir -p "$tmp/src/arch/x86" "$tmp/src/virt" "$tmp/src/include/linux"
	cp -r "$ksrc/arch/x86/kvm" "$tmp/src/arch/x86/"
	cp -r "$ksrc/virt/kvm" "$tmp/src/virt/"
	cp "$ksrc/include/linux/kvm_host.h" "$tmp/src/include/linux/"
	sed -n 's|^+++ b/||p' "$patches"/*.patch | sort -u |
		(cd "$ksrc" && xargs cp --parents -t "$tmp/src")
}

# refused PATCH NAME: mktree names the patch, gives a hint, and leaves nothing.
refused() {
	local rc=0
	mkdir -p "$tmp/trees"
	kernel/mktree "$tmp/src" "$tmp/trees/t" all >"$tmp/why" 2>&1 && rc=1
	grep -q "^kernel/mktree: the patch $1 does not apply to this kernel" "$tmp/why" || rc=1
	grep -q '^hint: .*KVER=' "$tmp/why" || rc=1
	[ -z "$(ls -A "$tmp/trees")" ] || { echo "something was left behind" >>"$tmp/why"; rc=1; }
	result $rc "$2" "$tmp/why"
}

plan $((3 * nr + 4))
find "$patches" -type f ! -name series -printf '%f\n' | sort >"$tmp/files"
printf '%s\n' "${series[@]}" | diff - "$tmp/files" >"$tmp/why"
result $? "the series names every patch there is, in order: $nr" "$tmp/why"

sum=$(checksum)
stamp=$out/series.stamp
mkdir -p "$out"
grep -q "^$sum " "$stamp" 2>/dev/null || rm -f "$stamp"

for ((i = 1; i <= nr; i++)); do
	p=${series[i - 1]}
	check_message "$patches/$p" >"$tmp/why"
	result $? "$p has a subject and says why" "$tmp/why"
	kernel/mktree "$ksrc" "$tree" "$i" >"$tmp/why" 2>&1
	result $? "$p applies with no fuzz" "$tmp/why"
	if has_config; then
		build "$p with all that there is" "${on[@]}"
	else
		build "$p, before there is an option," "KCFLAGS=-g0 -O1"
	fi
done
build "the whole series with all of it left out" "KCFLAGS=-g0 -O1"

copy_source
sed -i 's/\tint try = 3;/\tint tries_left = 3;/' "$tmp/src/virt/kvm/kvm_main.c"
refused 0005-on-spin-hook.patch "a kernel with another kvm_vcpu_on_spin() is refused, naming the patch"

# A line that patch(1) would overlook unless told not to.
cp "$ksrc/virt/kvm/kvm_main.c" "$tmp/src/virt/kvm/"
sed -i 's/^bool kvm_vcpu_wake_up(/bool  kvm_vcpu_wake_up(/' "$tmp/src/virt/kvm/kvm_main.c"
refused 0004-ready-since.patch "a kernel to which a patch applies with fuzz only is refused"
finish
