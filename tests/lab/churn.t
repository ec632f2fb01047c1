#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Policies come and go a thousand times while a guest spins; nothing is lost, and
# nothing is left.
# In one thread of emulation: in several, replacing a policy this often now and then
# hangs a CPU of QEMU 7.2 for good (docs/design.md, the lab).
# lab: --armed --single --timeout 540
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh

rounds=1000
policies=(build/policies/yield_policy.bpf.o build/policies/builtin.bpf.o)

churn() { test-churn "$1" "${policies[@]}"; }

by_hand() {	# the loader itself, as an operator calls it
	local left=$1
	while [ "$((left--))" -gt 0 ]; do
		kvmyield load yield_policy && kvmyield replace builtin &&
			kvmyield replace random && kvmyield unload || return
	done
}

# Programs, maps and links of BPF; every slab with how many objects it has, but for
# vmap_area, whose freed ones wait for a purge of their own; and the memory in kB.
objects() {
	sync
	echo 3 >/proc/sys/vm/drop_caches
	sleep 1
	echo "bpf-prog $(bpftool prog show | grep -c '^[0-9]')"
	echo "bpf-map $(bpftool map show | grep -c '^[0-9]')"
	echo "bpf-link $(bpftool link show | grep -c '^[0-9]')"
	awk 'NR > 2 && $1 != "vmap_area" {print $1, $2}' /proc/slabinfo
	awk '/^(Percpu|VmallocUsed)/ {print $1, $2}' /proc/meminfo
}

# Something lost each round would show as one object more for each round.
grown() {
	join <(objects | sort) <(sort /tmp/before) |
		awk -v n="$1" '$2 - $3 > n {print $1, "grew by", $2 - $3}'
}

no_growth() {
	local left
	left=$(grown $((rounds * 8 / 10)))
	[ -z "$left" ] || { echo "$left"; return 1; }
}

# bpftool's own map, and those of policies that have just gone, are released after
# grace periods: look for a while.
same_bpf() {
	local left try
	for try in {1..30}; do
		left=$(bpf_left)
		[ -n "$left" ] || return 0
	done
	echo "$left (after $try looks)"
	return 1
}

bpf_left() {
	join <(objects | grep ^bpf | sort) <(grep ^bpf /tmp/before | sort) | awk '$2 != $3'
}

test-lockwork 4 1000 1000 >/tmp/work 2>&1 &
worker=$!
ok "the first rounds, before anything is counted" churn 40
ok "and by hand" by_hand 2
objects >/tmp/before
ok "$rounds times attached, replaced and detached while a guest spins" churn $rounds
ok "30 times by the loader" by_hand 30
ok "no BPF object is left" same_bpf
ok "no slab, no per-CPU and no vmalloc memory is left" no_growth
ok "a leak of one object a round would be seen" test "$rounds" -gt $((rounds * 8 / 10))
ok "the guest still works" kill -0 $worker
kill $worker
wait $worker 2>/dev/null
ok "and after it others do, and rightly" test-lockwork 4 1000 3
finish
