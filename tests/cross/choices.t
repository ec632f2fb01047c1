#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The hook changes no choice while it is off, and with builtin.bpf.c attached: the
# same guests, in the same states, on Debian's own KVM and on ours.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh

out=build/tests/choices
mkdir -p "$out"
sizes=(2 4 16 64)

in_lab() {	# in_lab NAME [OPTION...] -- COMMAND...
	local name=$1 status=0
	shift
	# 123: QEMU has lost a CPU. Seldom, and once is no result.
	for _ in 1 2; do
		status=0
		lab/run --timeout 200 --out "$out/$name.lab" "$@" >"$out/$name" 2>"$out/$name.err" || status=$?
		[ "$status" -eq 123 ] || break
	done
	[ "$status" -eq 0 ] || tail -5 "$out/$name.err"
	return "$status"
}

# What Debian's own module does depends on nothing of ours but the test program.
stock() {
	local sum
	sum=$(cat build/kver build/bin/test-choices tests/cross/choices.t | sha256sum)
	[ "$sum" = "$(cat "$out/stock.sum" 2>/dev/null)" ] && [ -s "$out/stock" ] && return
	in_lab stock --stock -- test-choices "${sizes[@]}" && echo "$sum" >"$out/stock.sum"
}

with_policy() {	# with_policy POLICY SIZE...
	local policy=$1
	shift
	in_lab "$policy" -- sh -c \
		"kvmyield load $policy >\$KVMYIELD_RESULTS/load && test-choices $* &&
		 kvmyield status >\$KVMYIELD_RESULTS/status"
}

decided() {	# the policy was asked, not bypassed
	local spins
	spins=$(sed -n 's/^ *spins: *\([0-9]*\).*/\1/p' "$out/$1.lab/status")
	[ "${spins:-0}" -gt 1000 ] || { echo "only ${spins:-no} spins"; return 1; }
}

same() { diff <(cut -c1-300 "$out/$1") <(cut -c1-300 "$out/$2") && cmp "$out/$1" "$out/$2"; }

differs() { ! cmp -s "$out/$1" <(grep -E "vcpus=($3) " "$out/$2"); }

ok "choices of Debian's own module, ${sizes[*]} vCPUs" stock
ok "each of the 54 guests came about there" test "$(wc -l <"$out/stock")" -eq 54
ok "choices of our module, hook off" in_lab off -- test-choices "${sizes[@]}"
ok "hook off: the same choices, all of them" same stock off
ok "choices with builtin.bpf.c attached" with_policy builtin "${sizes[@]}"
ok "builtin.bpf.c: it was asked" decided builtin
ok "builtin.bpf.c: the same choices, all of them" same stock builtin
ok "choices of the default policy" with_policy yield_policy 4
ok "the default policy: other choices, so that this test can fail" differs yield_policy stock 4
finish
