#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# bpftool struct_ops with kernel/patches/bpftool: types that live in kvm.ko, and still those of vmlinux; and do
# bpftool and kvmyield see what the other has loaded?
# lab: --armed --timeout 200
# shellcheck disable=SC2016 # single quotes: the expressions are perl's
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh

object=build/policies/builtin.bpf.o
other=build/tests/lab/congestion.bpf.o
pins=/sys/fs/bpf/by-bpftool

json() {	# json EXPRESSION ARGUMENT...: of bpftool's answer in $_
	local expr=$1
	shift
	if ! bpftool -j "$@" >/tmp/json 2>&1 ||
	   ! perl -MJSON::PP -e "local \$/; \$_ = decode_json(<>); exit !($expr)" /tmp/json; then
		cat /tmp/json
		return 1
	fi
}

map_id() {	# map_id NAME
	bpftool struct_ops show name "$1" | sed -n 's/^\([0-9]*\): .*/\1/p'
}

# As many as there are of KVM's struct_ops links and maps.
count() {	# count LINKS MAPS
	local maps
	for _ in {1..30}; do
		maps=$(bpftool struct_ops show | grep -c kvm_yield_ops)
		[ "$maps" -ne "$2" ] || break
		sleep 0.1
	done
	is "$(bpftool link show | grep -c struct_ops) $maps" "$1 $2"
}

attached() { kvmyield status | grep -q "^policy: *$1\$"; }

# Nothing loaded.
ok "show: nothing" is "$(bpftool struct_ops show)" ""
ok "show -j: nothing" json 'ref $_ eq "ARRAY" && !@$_' struct_ops show
ok "unregister nothing" fails 255 "no struct_ops found for builtin" bpftool struct_ops unregister name builtin

# Without a directory the link goes with bpftool, as its manual says.
ok "register" fails 0 "Registered kvm_yield_ops builtin map id" bpftool struct_ops register $object
ok "the policy goes with bpftool" count 0 0

# With one.
ok "register with pins" fails 0 "Registered kvm_yield_ops builtin map id" bpftool struct_ops register $object $pins
ok "it is attached and pinned" test -e $pins/builtin
ok "kvmyield sees it" attached builtin
ok "one more is refused" fails 255 "can't register struct_ops builtin" bpftool struct_ops register $object
ok "show" sh -c "bpftool struct_ops show | grep -Eq '^[0-9]+: builtin +kvm_yield_ops *\$'"
ok "show by name" test -n "$(map_id builtin)"
ok "show by id" fails 0 "kvm_yield_ops" bpftool struct_ops show id "$(map_id builtin)"
ok "show -j" json '@$_ == 1 && $_->[0]{kernel_struct_ops} eq "kvm_yield_ops" && $_->[0]{name} eq "builtin"' \
	struct_ops show
bpftool -j struct_ops dump name builtin >/tmp/dump
for member in rank yielded vm_pid name; do
	ok "dump: the member $member" grep -q "\"$member\":" /tmp/dump
done
ok "dump: the name" grep -q '"builtin' /tmp/dump
ok "dump: whose type it is" grep -q '"bpf_struct_ops_kvm_yield_ops"' /tmp/dump
ok "dump: rank is the program" grep -Eq '"rank": *"[^"]*(builtin_)?rank[^"]*prog_id|"rank": *"[^"]*rank' /tmp/dump
ok "dump by id" fails 0 '"bpf_map_info"' bpftool struct_ops dump id "$(map_id builtin)"
sed 's/^/# /' /tmp/dump

# Beside one of vmlinux: each has its own BTF.
ok "register one of vmlinux" fails 0 "Registered tcp_congestion_ops still id" bpftool struct_ops register $other
ok "show has both" json 'join(" ", sort map { $_->{kernel_struct_ops} } @$_) eq "kvm_yield_ops tcp_congestion_ops"' \
	struct_ops show
ok "dump has both" sh -c "bpftool struct_ops dump >/tmp/dump && grep -q bpf_struct_ops_kvm_yield_ops /tmp/dump &&
	grep -q bpf_struct_ops_tcp_congestion_ops /tmp/dump && grep -q still_ssthresh /tmp/dump"
ok "unregister that by name" fails 0 "Unregistered tcp_congestion_ops still" bpftool struct_ops unregister name still
ok "and only that" attached builtin

# By name and by id; the pin is left, of a link that is attached to nothing.
ok "unregister by name" fails 0 "Unregistered kvm_yield_ops builtin" bpftool struct_ops unregister name builtin
ok "kvmyield sees that" fails 3 "none" kvmyield status
# The map goes a grace period after its link; until then it is there and can't be unloaded.
for _ in {1..50}; do
	bpftool struct_ops show name builtin 2>/dev/null | grep -q builtin || break
	sleep 0.1
done
ok "a second time: there is none" fails 255 "no struct_ops found for builtin" \
	bpftool struct_ops unregister name builtin
rm $pins/builtin
ok "nothing is left" count 0 0
bpftool struct_ops register $object $pins >/dev/null 2>&1
ok "unregister by id" fails 0 "Unregistered kvm_yield_ops builtin" bpftool struct_ops unregister id "$(map_id builtin)"
rm $pins/builtin
ok "nothing is left, either" count 0 0

# kvmyield's own.
kvmyield -q load random
ok "bpftool shows what kvmyield has loaded" fails 0 "kvm_yield_ops" bpftool struct_ops show name random
ok "and unregisters it" fails 0 "Unregistered kvm_yield_ops random" bpftool struct_ops unregister name random
ok "kvmyield says so" fails 3 "" kvmyield status
ok "and loads the next" kvmyield load builtin
ok "which is there" attached builtin
ok "unload" kvmyield unload
ok "nothing is left of all that" count 0 0
finish
