#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Per-VM debugfs: each mode's tree against that of Debian's KVM; deaths at any moment; nothing left over.
# lab: --single --timeout 400 --mem 4G
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh

param=/sys/module/kvm/parameters/vm_debugfs
top=/sys/kernel/debug/kvm
t=$(mktemp -d)
# shellcheck source=/dev/null
hidden=$(. build/lab.conf && echo "$MODS")/hidden

unload() {
	rmmod kvm_amd kvm
}

load() {	# load DIRECTORY
	insmod "$1/kvm.ko" && insmod "$1/kvm-amd.ko" npt=0
}

set_mode() { echo "$1" >$param; }

# With KVM unloaded, and loaded again: that also makes the kernel let go of areas of address space that it
# frees when there are many. A thousand VMs of seventy files would leave seventy thousand of what leaks.
slabs() {
	local n
	unload
	load "$KVMYIELD_MODS"
	for ((n = 0; n < 3; n++)); do
		echo 2 >/proc/sys/vm/drop_caches
		sleep 0.5
	done
	awk 'NR > 2 { print $1, $2 }' /proc/slabinfo | sort
}

grown() {	# grown BEFORE AFTER: the slabs in which a thousand VMs may have left something
	join "$1" "$2" | awk '$3 - $2 >= 900 { print; bad = 1 } END { exit bad }'
}

left_over() {
	local dirs
	dirs=$(find "$top" -mindepth 1 -type d)
	is "$dirs" ""
}

die_and_unload() {
	test-vmfiles die 24 && unload
}

kill "$KVMYIELD_VM_HOLDER"
sleep 0.5
unload
load "$KVMYIELD_MODS/stock"
test-vmfiles now 2 >"$t/stock.now"
test-vmfiles tree 2 >"$t/stock"
find "$top" -type f -printf '%P %m\n' | sort >"$t/stock.host"
unload
load "$KVMYIELD_MODS"
find "$top" -type f -printf '%P %m\n' | sort >"$t/ours.host"

ok "Debian's KVM shows a VM with $(wc -l <"$t/stock") files" [ "$(wc -l <"$t/stock")" -gt 60 ]
ok "the default is full" is "$(cat $param)" full
ok "the host's own statistics are as they were" diff "$t/stock.host" "$t/ours.host"
test-vmfiles now 2 >"$t/full"
ok "full: the tree is Debian's, file for file, at once" diff "$t/stock.now" "$t/full"
set_mode lazy
test-vmfiles now 2 >"$t/lazy.now"
printf '%s\n' '/vcpu0' '/vcpu0/pid' '/vcpu1' '/vcpu1/pid' >"$t/want"
ok "lazy: at once a directory, and vcpuN/pid" diff <(awk '{ print $3 }' "$t/lazy.now" | grep . | sort) "$t/want"
test-vmfiles tree 2 >"$t/lazy"
ok "lazy: in the end the tree is Debian's, file for file" diff "$t/stock" "$t/lazy"
set_mode off
ok "off: nothing" is "$(test-vmfiles tree 2)" ""
ok "a word that is none of them is refused" fails 1 "Invalid argument" bash -c "echo some >$param"
ok "and changes nothing" is "$(cat $param)" off
ok "modinfo says what is given up, and how to get at it" \
	sh -c "modinfo -F parm '$KVMYIELD_MODS/kvm.ko' | grep '^vm_debugfs:.*guest_mode.*KVM_GET_STATS_FD'"

ok "a VM keeps its mode; the second of two with one name has nothing" test-vmfiles life
ok "vCPUs created at random moments of the lazy creation" test-vmfiles late 25

set_mode lazy
ok "200 VMs die at a random moment" test-vmfiles die 200
slabs >"$t/before"
set_mode lazy
ok "1000 more" test-vmfiles die 1000
slabs >"$t/after"
ok "no slab has grown by one for each" grown "$t/before" "$t/after"
ok "no directory is left" left_over
for i in 1 2 3; do
	set_mode lazy
	ok "deaths and at once rmmod, time $i" die_and_unload
	load "$KVMYIELD_MODS"
done
unload

ok "KVM_VM_DEBUGFS=n: it loads" load "$hidden"
ok "no VM is shown" is "$(test-vmfiles tree 2)" ""
ok "and there is no choice" fails 1 "" [ -e "$param" ]
ok "the host's own statistics are there" \
	diff "$t/stock.host" <(find "$top" -type f -printf '%P %m\n' | sort)
unload
finish
