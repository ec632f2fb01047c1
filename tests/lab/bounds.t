#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The kernel's bounds hold against policies that try to break them.
# lab: --armed --timeout 240
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh

fixed=build/tests/guest/fixed.bpf.o
budget=/sys/module/kvm/parameters/yield_refusal_budget

# The first 12 spins of the frozen guest in which all siblings are in kernel mode.
choices() {
	kvmyield load "$fixed" "$@" >/dev/null || return
	test-choices -s all-kernel 4 >/tmp/choices
	kvmyield unload >/dev/null
	grep "^all-kernel vcpus=4 spinner=kernel" /tmp/choices | cut -d: -f2- | cut -d'|' -f1-13
}

chooses() {	# chooses "SEQUENCE" PARAMETER...
	local want=$1
	shift
	is "$(choices "$@")" "$want"
}

none=" | | | | | | | | | | | | "
turns=" | 1 | 2 | 3 | 1 | 2 | 3 | 1 | 2 | 3 | 1 | 2 | 3 "
# Five times the same, then KVM's own choice: the next one of its round.
fives=" | 2 | 2 | 2 | 2 | 2 | 3 | 2 | 2 | 2 | 2 | 2 | 3 "

ok "INT_MIN refuses" chooses "$none" score=-2147483648
ok "-1 refuses" chooses "$none" score=-1
ok "INT_MAX takes the first of the round" chooses "$turns" score=2147483647
ok "the same score for all: in turns" chooses "$turns" score=7
ok "always the same vCPU: every sixth choice is KVM's" chooses "$fives" only=2 score=7
ok "always the same vCPU, by 'take'" chooses "$fives" only=2 score=2147483647
ok "only a vCPU that does not exist: nobody" chooses "$none" only=99 score=7
ok "only the spinner itself: nobody" chooses "$none" only=0 score=7

# A policy that chooses nobody while others wait.
ok "the budget is 10,000 unless changed" is "$(cat $budget)" 10000
echo 500 >$budget
ok "never is loaded" kvmyield load never
ok "a guest that spins under it finishes, and rightly" test-lockwork 4 1000 3
ok "it was ejected, and status says so" fails 5 "never" kvmyield status
ok "status says why" fails 5 "spins in a row" kvmyield status
ok "the kernel's log says so" sh -c "dmesg | grep 'yield policy never detached'"
ok "it cannot be replaced" fails 5 "" kvmyield replace builtin
ok "another one can be loaded" kvmyield load builtin
ok "and is there" kvmyield status
ok "and is unloaded" kvmyield unload
echo 0 >$budget
ok "with a budget of 0 never is loaded" kvmyield load never
ok "a guest finishes under it" test-lockwork 4 1000
ok "and it is still there" kvmyield status
ok "and is unloaded" kvmyield unload
finish
