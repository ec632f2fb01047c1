#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The loader against a kernel with the hook: each verb, each refusal, and death at
# any moment.
# lab: --armed --timeout 240
# shellcheck disable=SC2016 # perl's variables
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh

o=build/tests/lab
pin=/sys/fs/bpf/kvmyield/host
guest=build/tests/guest/fixed.bpf.o

nothing_left() {	# no policy, no link, no pin
	local links
	fails 3 "none" kvmyield status || return
	links=$(bpftool link show | grep -c struct_ops)
	is "$links" 0 && is "$(find /sys/fs/bpf -type f)" ""
}

attached() { kvmyield status | grep -q "^policy: *$1\$"; }

nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }

json() {	# json EXPRESSION COMMAND...: of the answer in $_
	local expr=$1
	shift
	"$@" 2>/dev/null >/tmp/json
	perl -MJSON::PP -e 'local $/; $_ = decode_json(<>); exit !('"$expr"')' /tmp/json ||
		{ cat /tmp/json; return 1; }
}

# What works.
ok "features: all there" kvmyield features
ok "features -j" json '$_->{schema} == 1' kvmyield -j features
mapfile -t policies < <(basename -s .bpf.o build/policies/*.bpf.o)
ok "list has all ${#policies[@]}" is "$(kvmyield list | grep -c '^  [a-z]')" "${#policies[@]}"
ok "list as nobody" nobody kvmyield list
ok "list -j" json 'grep { $_->{name} eq "never" } @{$_->{policies}}' kvmyield -j list
for p in "${policies[@]}"; do
	ok "check $p" kvmyield check "$p"
done
ok "check with the default's parameters at an end" kvmyield check yield_policy ipi_from_spinner=255 \
	critical=255 kicked=255 kernel=255 ipi=255 interrupt=255 longest_first=false
ok "and at the other" kvmyield check yield_policy ipi_from_spinner=0 critical=0 kicked=0 kernel=0 ipi=0 interrupt=0
ok "check prints instructions and time" sh -c \
	"kvmyield check builtin | grep -E '[0-9]+ insns verified in [0-9]+ us'"
ok "check attaches nothing" nothing_left
ok "load a policy with a map, yielded() and a parameter" kvmyield load $o/learns.bpf.o bonus=3
ok "a guest runs under it, rightly" test-lockwork 4 1000 2
ok "it has counted" json '$_->{counters}{spins} > 100 && $_->{counters}{yields} > 0' kvmyield -j status
ok "load of a second one names the first" fails 2 "'learns' is attached already" kvmyield load builtin
ok "and changes nothing" attached learns
ok "bpftool sees the link" sh -c "bpftool link show | grep -q struct_ops"
ok "replace" kvmyield replace yield_policy
ok "the new one is there" attached yield_policy
ok "its count begins at 0" json '$_->{counters}{spins} == 0' kvmyield -j status
ok "list marks it" sh -c "kvmyield list | grep -q '^\* *yield_policy'"
ok "unload" kvmyield unload
ok "nothing is left" nothing_left
ok "unload again" fails 3 "nothing is loaded" kvmyield unload
ok "replace with nothing loaded" fails 3 "nothing is loaded" kvmyield replace never

# What is refused, and leaves nothing.
ok "an unsafe program: the verifier's reason" fails 2 "access beyond struct kvm_yield_candidate" \
	kvmyield load $o/unsafe.bpf.o
ok "in one line" sh -c "kvmyield load $o/unsafe.bpf.o 2>&1 | wc -l | grep -qx 2"
ok "a program that writes" fails 2 "dy_eligible only" kvmyield load $o/writes.bpf.o
ok "a policy for one VM" fails 2 "one VM" kvmyield load $o/onevm.bpf.o
ok "a policy without rank()" fails 1 "has no rank()" kvmyield load $o/norank.bpf.o
ok "a name that does not exist" fails 1 "did you mean 'builtin'" kvmyield load bultin
ok "a parameter out of range" fails 1 "0 to 255" kvmyield load $o/learns.bpf.o bonus=300
ok "a parameter that does not exist" fails 1 "bonus" kvmyield load $o/learns.bpf.o bonu=3
ok "as nobody" fails 2 "root" nobody kvmyield load builtin
ok "nothing is left of all that" nothing_left
ok "a refused replacement" sh -c "kvmyield load never && ! kvmyield replace $o/unsafe.bpf.o 2>/dev/null"
ok "leaves the old one" attached never
ok "nobody may not remove it" fails 2 "" nobody kvmyield unload
ok "nor read the pin" fails 2 "denied" nobody ls $pin
kvmyield -q unload
umount /sys/fs/bpf
ok "without a BPF file system" fails 4 "mount -t bpf" kvmyield load builtin
ok "nothing was attached" fails 3 "none" kvmyield status
mount -t bpf bpf /sys/fs/bpf

# Somebody else's policy.
ok "one that bpftool removed is gone for status" sh -c \
	"kvmyield -q load never && bpftool link detach pinned $pin && ! kvmyield status"
ok "and does not stand in the way of the next" kvmyield load builtin
ok "which is there" attached builtin
rm $pin
ok "without its pin it is gone" nothing_left

# Death at any moment. Each time: the old or the new one, and status knows which.
kill_during() {	# kill_during MAX_MS COMMAND...
	local max=$1
	shift
	"$@" >/dev/null 2>&1 &
	sleep "$(printf '0.%03d' $((RANDOM % max)))"
	kill -9 $! 2>/dev/null
	wait $! 2>/dev/null
}

kill_replace() {
	local n=0 to=random old=0 new=0
	kvmyield -q load builtin || return
	while [ "$n" -lt 40 ]; do
		kill_during 60 kvmyield replace "$to"
		n=$((n + 1))
		if attached "$to"; then
			new=$((new + 1))
			case $to in random) to=builtin ;; *) to=random ;; esac
		elif attached random || attached builtin; then
			old=$((old + 1))
		else
			echo "neither, after $n times"
			return 1
		fi
	done
	kvmyield -q unload
	echo "$n times: $old times the old one, $new times the new one" >/tmp/kill_replace
}

kill_load() {
	local n=0 on=0
	while [ "$n" -lt 40 ]; do
		kill_during 30 kvmyield load random
		n=$((n + 1))
		if attached random; then
			on=$((on + 1))
			kvmyield -q unload || return
		fi
		fails 3 "none" kvmyield status || { echo "after $n times"; return 1; }
	done
	echo "$n times, $on of them attached" >/tmp/kill_load
	# A pin without a policy may have been left; load clears it away.
	kvmyield -q load random && kvmyield -q unload && nothing_left
}

at_once() {
	local i
	for i in never random builtin yield_policy; do
		kvmyield -q load "$i" 2>/dev/null &
	done
	wait
	kvmyield -q status || return
	for i in never random builtin; do
		kvmyield -q replace "$i" 2>/dev/null &
	done
	wait
	kvmyield -q status && kvmyield -q unload && nothing_left
}

ok "kill -9 during replace, again and again" kill_replace
diag "$(cat /tmp/kill_replace)"
ok "kill -9 during load, again and again" kill_load
diag "$(cat /tmp/kill_load)"
ok "several loaders at once" at_once
ok "a policy outlives its loader, and a guest under it" sh -c \
	"kvmyield -q load $guest score=1 && test-lockwork 2 100 && kvmyield -q status && kvmyield -q unload"
finish
