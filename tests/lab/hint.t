#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The hint of a real Linux guest with the module kvm_preempt_count: what policies are told of it is what the
# guest does; and the address is withdrawn and given again as it must be.
# lab: --armed --timeout 290
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
# shellcheck source=lab/guest
. lab/guest

objs=build/tests/guest
module=/lib/kvm_preempt_count.ko
saved=/tmp/guest.saved

hinted() {	# hinted GUEST: how many of its vCPUs share a word
	kvmyield -j status 2>/dev/null | perl -MJSON::PP -e 'local $/;
		print map { $_->{nr_hinted} } grep { $_->{pid} == $ARGV[0] } @{decode_json(<STDIN>)->{vms}}' "$(guest_pid "$1")"
}

# hinted_is GUEST N SECONDS: they get to be N
hinted_is() {
	local n until=$((SECONDS + $3))
	while n=$(hinted "$1"); [ "$n" != "$2" ]; do
		[ "$SECONDS" -lt "$until" ] || { echo "$n share a word and not $2"; return 1; }
		sleep 0.2
	done
}

# The loops of the guest's module hint_states, as parameters of the policy.
load_judge() {
	local loops i args=()
	IFS=, read -ra loops < <(guest_run b 20 cat /sys/module/hint_states/parameters/loops)
	[ "${#loops[@]}" -eq 14 ] || { echo "there are not 14 addresses: ${loops[*]}"; return 1; }
	for i in 0 1 2 3 4 5 6; do
		args+=("b$i=${loops[2 * i]}" "e$i=${loops[2 * i + 1]}")
	done
	kvmyield load "$objs"/hinted.bpf.o "${args[@]}"
}

# What the policy has seen, a line for each variable: name right wrong no_hint wrong_irqs last_wrong
judgement() {
	local id
	id=$(bpftool -j map show | perl -MJSON::PP -e 'local $/;
		print map { $_->{id} } grep { ($_->{name} // "") eq "hinted.bss" } @{decode_json(<>)}')
	bpftool -j map dump id "$id" | perl -MJSON::PP -e 'local $/;
		my $m = decode_json(<>);
		my %v = map { %$_ } @{($m->[0]{formatted} // $m->[0])->{value}{".bss"}};
		my @names = qw(free held nested bh irqs_off hardirq softirq);
		for my $i (0..6) {
			my $s = $v{states}[$i];
			print "$names[$i] @$s{qw(right wrong no_hint wrong_irqs last_wrong)}\n";
		}
		print "looks $v{looks}\nelsewhere $v{elsewhere}\nunstable $v{unstable}\n"' | tee /tmp/judgement
}

# Until every state has been seen so often, each time rightly.
watch() {
	local tries=50
	while sleep 1; do
		judgement >/dev/null
		awk 'NF == 6 && $2 + $3 + $4 < '"$1"' { exit 1 }' /tmp/judgement && return
		[ "$((tries--))" -gt 0 ] || { cat /tmp/judgement; return 1; }
	done
}

state() {	# state NAME: it was seen, and never told wrongly
	awk -v name="$1" '$1 == name { found = $2 >= 1000 && $3 + $4 + $5 == 0 } END { exit !found }' /tmp/judgement ||
		{ cat /tmp/judgement; return 1; }
}

stable() {
	awk '{ n[$1] = $2 } END { exit n["unstable"] * 20 > n["looks"] }' /tmp/judgement ||
		{ cat /tmp/judgement; return 1; }
}

runs_other() {	# runs_other GUEST: another kernel has taken over
	local n=100
	until grep -q "the other kernel runs" "$(guest_log "$1")"; do
		[ "$((n--))" -gt 0 ] || { tail -5 "$(guest_log "$1")"; return 1; }
		sleep 0.2
	done
}

# Not in ok(): guests belong to the shell that started them.
GUEST_INITRAMFS=${HINT_CPIO-$objs/hint.cpio}
guest_start a 4 256M guest.hint crashkernel=16M || exit 1
guest_start masked 1 256M || exit 1
# The guests' vCPUs use all CPUs later, and the test has to get on.
renice -n -15 $$ >/dev/null
ok "a guest loads the module as it boots" guest_wait a 120
ok "the other guest is up" guest_wait masked 60
ok "all vCPUs share a word" hinted_is a 4 0
ok "features says so" sh -c "kvmyield features --vm $(guest_pid a) | grep -q '^  hint  *ok .*4 of its 4 vCPUs'"

# A host that does not offer it: QEMU masks the bit unless told otherwise.
ok "without the feature the module is refused" guest_run masked 20 \
	"insmod $module 2>&1 | grep -q 'No such device'"
ok "the log says why, and what to do" guest_run masked 20 \
	"dmesg | grep -q 'kvm_preempt_count: the host does not offer' &&
	dmesg | grep -q 'kvm_preempt_count: hint: .*migratable=no'"
ok "nothing is shared" hinted_is masked 0 0
guest_stop masked

# Hotplug.
cpu1=/sys/devices/system/cpu/cpu1/online
ok "a CPU goes offline" guest_run a 20 "echo 0 >$cpu1"
ok "its word is withdrawn" hinted_is a 3 0
ok "it comes back" guest_run a 20 "echo 1 >$cpu1"
ok "and shares it again" hinted_is a 4 0

# Suspend: all the way down and back; the kernel waits for five seconds at the bottom.
# shellcheck disable=SC2016 # the guest's variables
ok "the guest suspends" guest_run a 20 'echo core >/sys/power/pm_test
	(echo mem >/sys/power/state; echo $? >/tmp/resumed) >/dev/null 2>&1 &'
ok "while it sleeps nothing is shared" hinted_is a 0 10
# shellcheck disable=SC2016
ok "it resumes" guest_run a 60 'until [ -e /tmp/resumed ]; do sleep 0.2; done; exit $(cat /tmp/resumed)'
ok "all share their words again" hinted_is a 4 5

# Unload. From here on CPUs look every second whether the host has the address.
ok "the module is unloaded" guest_run a 20 rmmod kvm_preempt_count
ok "nothing is shared" hinted_is a 0 0
ok "it is loaded again" guest_run a 20 insmod $module rearm_secs=1
ok "all share their words" hinted_is a 4 0

# QEMU 7.2 does not know the MSR, and loses it.
ok "the guest is saved" guest_save a $saved
guest_restore b $saved
ok "and restored" guest_run b 20 uptime
ok "the guest goes through all states, and so all its CPUs are busy" guest_run b 20 insmod /lib/hint_states.ko
ok "all share their words again" hinted_is b 4 20

# What is told is what the guest does.
ok "a policy is told of them" load_judge
ok "each state was seen 1,000 times and more" watch 1000
judgement | sed 's/^/# /'
ok "unload" kvmyield unload
for s in free held nested bh irqs_off hardirq softirq; do
	ok "state $s: no false answer" state $s
done
ok "hardly ever did a vCPU run while it was looked at" stable
ok "the guest stops" guest_run b 60 rmmod hint_states

# Kexec.
guest_run b 20 '(sleep 0.5; other-kernel boot) >/dev/null 2>&1 &'
ok "the guest starts another kernel" runs_other b
ok "of which nothing is shared" hinted_is b 0 0
ok "no fault in the guest's kernel" guest_stop b

# An oops, and the kernel that is started for it; it is this CPU that goes on. In the guest that was saved.
ok "the other guest goes on" guest_qmp a '{"execute": "cont"}'
ok "a kernel is set up for crashes" guest_run a 20 other-kernel crash
guest_run a 20 'echo 1 >/proc/sys/kernel/panic_on_oops
	(sleep 0.5; insmod /lib/hint_states.ko oops=1) >/dev/null 2>&1 &'
ok "the guest crashes, and the other kernel runs" runs_other a
ok "the CPU that it runs on shares nothing" hinted_is a 3 0
ok "the crash was the one that was asked for" fails 125 "kernel BUG" guest_stop a
finish
