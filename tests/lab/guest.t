#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A real Linux guest beside a busy one, while policies are loaded and replaced.
# lab: --armed --timeout 240
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
# shellcheck source=lab/guest
. lab/guest

# Not in ok(): guests belong to the shell that started them.
guest_start work 4 512M nopvspin || exit 1
guest_start neighbour 2 256M || exit 1
ok "the one is up" guest_wait work 180
ok "the other is up" guest_wait neighbour 180
ok "the neighbour is busy" guest_busy neighbour 2

for policy in yield_policy builtin random; do
	if kvmyield -q status 2>/dev/null; then
		ok "replaced by $policy" kvmyield replace $policy
	else
		ok "loaded $policy" kvmyield load $policy
	fi
	ok "hackbench runs under $policy" guest_run work 100 hackbench -g 2 -f 4 -l 40
done

asked() {
	local spins
	spins=$(kvmyield status | sed -n 's/^spins: *//p')
	[ "${spins:-0}" -gt 0 ] || { kvmyield status; return 1; }
}
ok "the policy was asked" asked
ok "unloaded while the guests run" kvmyield unload
ok "hackbench runs without a policy" guest_run work 100 hackbench -g 2 -f 4 -l 40
ok "a failure in the guest is a failure here" fails 3 "exit status 3" guest_run work 20 exit 3
ok "a command without end is ended" fails 124 "did not finish in 2 seconds" guest_run work 2 sleep 100
ok "no fault in the one's kernel" guest_stop work
ok "none in the other's" guest_stop neighbour
finish
