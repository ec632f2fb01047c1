# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What measuring tiny VMs in the emulated host takes: KVM's modules exchanged while it runs, udevd in a cgroup
# of its own, a listener to uevents. Sourced after bench/lab.sh by what runs in the lab.
: "${self:?}" "${make:?}"

params=/sys/module/kvm/parameters
udevd_group=/sys/fs/cgroup/udevd
built=$(cd "$(dirname "${BASH_SOURCE[0]}")/../build/bench" 2>/dev/null && pwd -P) || built=/nowhere
hello=$built/hello
holder=${KVMYIELD_VM_HOLDER-}
modules=ours			# which are loaded
listener='' listen_end=

tiny_check() {	# tiny_check HINT
	local p
	[ "${KVMYIELD_LAB-}" = 1 ] || die 2 "this is not the lab" "$1"
	[[ -n $results && -d $results ]] || die 2 "KVMYIELD_RESULTS does not name a directory" "lab/run sets it"
	for p in "$hello" "$built/uevents"; do
		[ -x "$p" ] || die 2 "the program ${p##*/} is missing" "$make builds it"
	done
	[ -r "$KVMYIELD_MODS/stock/kvm.ko" ] || die 2 "Debian's own KVM is not in the lab" "lab/run brings it"
	[ -x /lib/systemd/systemd-udevd ] || die 2 "systemd-udevd is missing" "apt-get install udev"
	for p in vm_uevents vm_debugfs; do
		[ -w "$params/$p" ] || die 2 "this KVM has no parameter $p" "make modules, from a tree that has it"
	done
}

# What switches KVM's static keys patches the kernel's code, which QEMU may get wrong while two CPUs run
# (lab/host-main); so may the loading of modules.
one_cpu() {
	local c
	for c in /sys/devices/system/cpu/cpu[1-9]*/online; do
		echo 0 >"$c"
	done
}

# The signs of life of lab/host-main, a process for each CPU, have moved to the one that was left.
all_cpus() {
	local c n p
	for c in /sys/devices/system/cpu/cpu[1-9]*/online; do
		echo 1 >"$c"
		c=${c%/online} n=${c##*/cpu}
		for p in $(pgrep -f "/alive/$n\$"); do
			taskset -p -c "$n" "$p" >/dev/null
		done
	done
}

let_go() {
	[ -n "$holder" ] || return 0
	kill "$holder" 2>/dev/null || true
	while [ -e "/proc/$holder" ] && [ "$(awk '{ print $3 }' "/proc/$holder/stat" 2>/dev/null)" != Z ]; do
		sleep 0.05
	done
	holder=
}

hold() {
	local n
	# Not with the end of the pipe that listen_stop closes: the listener would wait for these VMs.
	(
		[ -z "$listen_end" ] || exec {listen_end}>&-
		exec "$hello" --hold >/tmp/held
	) &
	holder=$!
	for ((n = 0; n < 100; n++)); do
		[ ! -s /tmp/held ] || return 0
		sleep 0.05
	done
	die 1 "there are no VMs that hold KVM"
}

modules_to() {	# modules_to ours|stock: with VMs that hold them
	local dir=$KVMYIELD_MODS
	[[ $1 != "$modules" || $holder = "${KVMYIELD_VM_HOLDER-}" ]] || return 0
	[ "$1" = ours ] || dir+=/stock
	one_cpu
	let_go
	if [ "$1" != "$modules" ]; then
		rmmod kvm_amd kvm || die 1 "KVM's modules cannot be removed"
		# npt: QEMU's emulation of it corrupts memory (docs/design.md, the lab).
		insmod "$dir/kvm.ko" || die 1 "$dir/kvm.ko cannot be loaded"
		insmod "$dir/kvm-amd.ko" npt=0 || die 1 "$dir/kvm-amd.ko cannot be loaded"
		modules=$1
	fi
	hold
	all_cpus
}

udevd_start() {
	local n
	mkdir -p /run/udev "$udevd_group"
	(
		echo "$BASHPID" >"$udevd_group/cgroup.procs"
		exec /lib/systemd/systemd-udevd
	) >"$results/udevd.log" 2>&1 </dev/null &
	for ((n = 0; n < 100; n++)); do
		! udevadm control --ping >/dev/null 2>&1 || return 0
		sleep 0.1
	done
	die 1 "systemd-udevd does not answer" "its words are in udevd.log, with the results"
}

udevd_settle() {
	udevadm settle --timeout=180 || die 1 "udevd has not come to an end of its events in three minutes"
}

# Until the workers of events gone by, too, have ended, as they do after three idle seconds.
udevd_rest() {
	local n
	udevd_settle
	for ((n = 0; n < 150; n++)); do
		[ "$(wc -l <"$udevd_group/cgroup.procs")" -gt 1 ] || return 0
		sleep 0.1
	done
	die 1 "udevd's workers do not end"
}

udevd_cpu() {	# microseconds, with its workers, those also that have ended
	awk '$1 == "usage_usec" { print $2 }' "$udevd_group/cpu.stat"
}

listen_start() {
	rm -f /tmp/listen
	mkfifo /tmp/listen
	"$built/uevents" </tmp/listen >/tmp/heard 2>"$results/stderr.txt" &
	listener=$!
	exec {listen_end}>/tmp/listen
	until grep -q listening /tmp/heard; do
		kill -0 "$listener" 2>/dev/null || die 1 "uevents cannot be listened to: $(cat "$results/stderr.txt")"
		sleep 0.05
	done
}

listen_stop() {		# in $created, $destroyed and $handled how many there were
	exec {listen_end}>&-
	listen_end=
	wait "$listener" || die 1 "uevents were not counted: $(cat "$results/stderr.txt")"
	# shellcheck disable=SC2034	# for who sources this
	read -r _ created _ destroyed _ handled _ < <(tail -n 1 /tmp/heard)
}
