#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# lab/run: the command's own status, a fault of the kernel, a hang, a dead host.
# shellcheck disable=SC2016 # the lab's variables
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh

out="build/tests/lab run"
rm -rf "$out"
lab() { lab/run --timeout 60 --out "$out" "$@"; }

ok "the splat scanner knows a fault from an ordinary line" lab/splat-test
ok "a status and a sentence come back" fails 7 "a b  'c' \$d" \
	lab --env "X=a b  'c' \$d" -- sh -c 'echo "$X"; echo "$1" >"$KVMYIELD_RESULTS/file"; exit 7' sh 'e "f"'
ok "a file comes back" is "$(cat "$out/file")" 'e "f"'
ok "our KVM is loaded" grep -q "yield" <(lab -- ls /sys/module/kvm/parameters)
ok "with --stock it is Debian's" fails 0 "none" lab --stock -- sh -c \
	'ls /sys/module/kvm/parameters | grep yield || echo none'
ok "a fault of the kernel fails the run" fails 125 "reported a fault" lab -- sh -c \
	'echo "WARNING: CPU: 0 PID: 1 at a.c:1 b+0x0/0x10" >/dev/kmsg'
ok "a hang ends" fails 124 "" lab/run --timeout 15 --out "$out" -- sleep 1000
ok "a CPU that is lost ends the run" fails 123 "CPU 1 of the emulated host gave no sign of life for 10 seconds" \
	lab --patience 10 -- sh -c 'echo -1 >/proc/sys/kernel/sched_rt_runtime_us
		taskset -c 1 chrt -f 99 sh -c "while :; do :; done"'
ok "a host that dies says so" fails 126 "sysrq triggered crash" lab -- sh -c 'echo c >/proc/sysrq-trigger'
ok "an unknown option" fails 2 "unknown option --foo" lab/run --foo
for n in 0 256 99999 99999999999999999999 x; do
	ok "--cpus $n" fails 2 "--cpus $n is" lab --cpus $n -- true
done
for n in 0G 4K 999999G 99999999999999999999M 99999999999999999999G; do
	ok "--mem $n" fails 2 "--mem $n is" lab --mem $n -- true
done
finish
