#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# kvmyield stats: every number of debugfs, without debugfs; many VMs; several in a process; metrics.
# lab: --timeout 240
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh

debugfs=/sys/kernel/debug/kvm
mode=/sys/module/kvm/parameters/vm_debugfs
check=tests/lab/stats-check

# vmms PROCESSES VMS VCPUS [OPTION...]: start them; their ids are in $pids, the first one's also in $pid
vmms() {
	local want=$1
	exec {hold}<> <(:)
	test-manyvms "$@" <&"$hold" >/tmp/pids &
	vmms_job=$!
	for ((n = 0; n < 600; n++)); do
		[ "$(wc -l </tmp/pids)" -lt "$want" ] || break
		sleep 0.1
	done
	mapfile -t pids </tmp/pids
	pid=${pids[0]}
}

end_vmms() {
	kill -9 "${pids[@]}" "$vmms_job"
	wait "$vmms_job" 2>/dev/null
	exec {hold}<&-
}

json() { kvmyield -j stats "$@" >/tmp/json; }

says() {	# says PATTERN COMMAND...
	local pattern=$1
	shift
	"$@" >/tmp/said 2>&1 || { cat /tmp/said; return 1; }
	grep -Eq -- "$pattern" /tmp/said || { cat /tmp/said; return 1; }
}

nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }

listed() { kvmyield -j stats | python3 -c '
import json, sys
print(sum(1 for p in json.load(sys.stdin)["processes"] if '"$1"'))'; }

# A stopped VM counts nothing.
vmms 1 1 3 spin
kill -STOP "$pid"
sleep 0.5
ok "stats of a VM, as JSON" json "$pid"
ok "every statistic is debugfs's, number for number" $check debugfs "$pid" /tmp/json
kvmyield stats --prom "$pid" >/tmp/prom
ok "and the metrics are the same" $check same "$pid" /tmp/json /tmp/prom
ok "all of them are in the table" says "^exits +[1-9]" kvmyield stats "$pid"
ok "with each vCPU by itself" says "of the vCPUs .*in all .*vCPU 0 .*vCPU 1 .*vCPU 2" kvmyield stats "$pid"
ok "a histogram has bounds and a unit" says "^halt_wait_hist, of so many ns:" kvmyield stats "$pid"
kill -CONT "$pid"
ok "while a vCPU runs nothing waits for it" timeout 10 kvmyield stats "$pid"
ok "--watch shows rates" says "^exits .* [1-9][0-9]*\.[0-9]" kvmyield stats "$pid" --watch=0.5 --count 3
ok "--watch -j: an object a line" says '^[{].*"per_second"' kvmyield -j stats "$pid" --watch=0.2 --count 3
ok "three of them" is "$(grep -c '^{' /tmp/said)" 3
ok "a thread stands for its process" says "^process $pid " kvmyield stats \
	"$(find /proc/"$pid"/task -mindepth 1 -maxdepth 1 -printf '%f\n' | tail -1)"
kvmyield stats "$pid" --watch=0.1 >/tmp/watch 2>&1 &
watcher=$!
sleep 1
fds=$(find /proc/$watcher/fd -lname '*kvm-*' | wc -l)
ok "who watches holds no VM" is "$fds" 0
end_vmms
rc=0
wait $watcher || rc=$?
ok "a VM that ends while it is watched: said so" grep -q "^kvmyield: .*$pid" /tmp/watch
ok "with status 1" is "$rc" 1
ok "it is gone" fails 1 "there is no process $pid" kvmyield stats "$pid"
sleep 0.3
ok "and nothing holds its directory" is "$(find $debugfs -name "$pid-*")" ""

echo off >$mode
vmms 1 1 2
ok "with vm_debugfs=off there is no directory" is "$(find $debugfs -name "$pid-*")" ""
ok "and there are all statistics" json "$pid"
ok "as many as ever" says "^1$" python3 -c '
import json
v = json.load(open("/tmp/json"))
print(int(len(v["vms"][0]["stats"]) + len(v["vcpus"][1]["stats"]) > 50))'
ok "as nobody" fails 2 "this user may not look into the process $pid" nobody kvmyield stats "$pid"
ok "nobody is told that not all are listed" says "not shown" nobody kvmyield stats
end_vmms
echo full >$mode

vmms 1 1 2 dup fork
ok "a file that is there twice, and in a child: one VM" is "$(listed 'p["nr_vms"] == 1 and p["nr_vcpus"] == 2')" 1
ok "and that is its maker's" is "$(listed "p['pid'] == $pid")" 1
end_vmms
pkill -9 test-manyvms

vmms 1 3 2
ok "three VMs in a process" says "3 VMs, 6 vCPUs" kvmyield stats "$pid"
ok "of which it says that their vCPUs stand together" grep -q "^Which vCPU is whose" /tmp/said
kvmyield stats --prom "$pid" >/tmp/prom
ok "their metrics are told apart" $check prom /tmp/prom
end_vmms

kvmyield -q load two_pass
vmms 200 1 1
ok "200 VMs are listed, with their policy" is "$(kvmyield stats | grep -c ' 1      1  two_pass  *test-manyvms$')" 200
ok "quickly" timeout 20 kvmyield stats
ok "metrics of all" kvmyield stats --prom -o /tmp/all.prom
ok "are what Prometheus reads" $check prom /tmp/all.prom
ok "of each VM" is "$(grep -c '^kvm_vm_mmu_unsync{' /tmp/all.prom)" 201
ok "nothing else was left beside it" is "$(find /tmp -name '*all.prom*')" /tmp/all.prom
ok "OpenMetrics too" sh -c "kvmyield stats --openmetrics >/tmp/all.om && $check openmetrics /tmp/all.om"
ok "--watch of one of them" says "^of the vCPUs" kvmyield stats "$pid" --watch=0.2 --count 2
mkdir /tmp/small
mount -t tmpfs -o size=64k tmpfs /tmp/small
echo before >/tmp/small/kvm.prom
ok "a full disk" fails 2 "no space left" kvmyield stats --prom -o /tmp/small/kvm.prom
ok "leaves what was there" is "$(cat /tmp/small/kvm.prom)" before
ok "and nothing else" is "$(find /tmp/small -mindepth 1 | wc -l)" 1
(sleep 0.2; kill -9 "${pids[@]:0:100}") &
ok "VMs that end meanwhile are left out" kvmyield stats --prom -o /tmp/all.prom
wait $!
ok "what remains is well-formed" $check prom /tmp/all.prom
end_vmms
kvmyield -q unload
finish
