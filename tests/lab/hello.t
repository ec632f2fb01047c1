#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# bench/hello makes the VMs that it is told to, counts right, and says what goes wrong.
# lab: --timeout 90
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh

hello=build/bench/hello
json=/tmp/hello.json

# value NAME: of the answer in JSON
value() { sed -n 's/^ *"'"$1"'": \([0-9.]*\),$/\1/p' "$json"; }
above_zero() { awk -v x="$1" 'BEGIN { exit !(x > 0) }'; }

# The steps make up the life; median, 90th and 99th percentile come in that order.
right_steps() {
	awk '/"step"/ {
			gsub(/[",:{}]/, "")
			n++
			if (!($4 > 0 && $4 <= $6 && $6 <= $8))
				print "wrong order:", $0
			if ($2 == "life")
				life = $6
			else if ($4 > most)
				most = $4
		}
		END { if (n != 8 || life < most) print n " steps, life " life ", longest " most }' "$json"
}
right_raw() { awk '!/^#/ { n++; s = 0; for (i = 1; i < 8; i++) s += $i; if (NF != 8 || s != $8 || !s) print "wrong:", $0 }
	END { if (n != 7) print n " lines" }' "$1"; }

ok "seven VMs, three at a time" sh -c "$hello -n 7 -j 3 --json --raw /tmp/raw >$json"
ok "the answer says so" is "$(value schema) $(value vms) $(value jobs)" "1 7 3"
ok "they took time" above_zero "$(value seconds)"
ok "and so did each step" is "$(right_steps)" ""
ok "the raw figures add up" is "$(right_raw /tmp/raw)" ""
ok "a table" fails 0 "create vCPU" $hello -n 2
ok "more jobs than VMs" fails 0 "1 VMs, 4 at a time" $hello -n 1 -j 4
vms=(/sys/kernel/debug/kvm/[0-9]*-*)
ok "none of their VMs is left" is "${#vms[@]}" 1

ok "what a VM has in debugfs is counted" sh -c "$hello -n 1 --look 0 --json >$json"
ok "it has much" test "$(value debugfs_entries)" -gt 20
ok "and as much later" is "$(value debugfs_entries_later)" "$(value debugfs_entries)"

ok "a VM that writes to a port" fails 3 "exit reason 2 (an access to a port) and not with 5, the hlt" $hello -c e610
ok "one that reads memory that it has not" fails 3 "memory that it has not" $hello -n 5 -j 5 -c 8a1e0040
ok "one that does something before its hlt" $hello -n 1 -c 90f4
ok "a kernel that refuses" fails 2 "KVM refuses" sh -c "ulimit -n 5; exec $hello"
ok "and the hint" fails 2 "hint: ulimit -n" sh -c "ulimit -n 5; exec $hello"
ok "a file that cannot be written" fails 1 "/none/raw cannot be written" $hello -n 1 --raw /none/raw

for arg in "-n 0" "-n x" "-n 99999999" "-j 0" "-j 5000" "-c f" "-c xy" "-c ''" "--look 1s" "--look 1 -j 2" "more" "--nothing"; do
	ok "wrong: $arg" fails 1 "hint: " sh -c "$hello $arg"
done
ok "help" fails 0 "usage: hello" $hello --help

# Events are sent before the ioctl returns: all that there are have arrived.
events() {
	local said
	coproc build/bench/uevents
	read -r said <&"${COPROC[0]}"
	$hello -n 3 >/dev/null
	eval "exec ${COPROC[1]}>&-"
	read -r said <&"${COPROC[0]}"
	echo "$said"
}
ok "three VMs are created and destroyed, and there is no udevd" is "$(events)" \
	"created 3 destroyed 3 handled 0 others 0"

$hello --hold >/tmp/held &
holder=$!
sleep 1
ok "VMs are held" is "$(cat /tmp/held)" held
kill "$KVMYIELD_VM_HOLDER"
ok "and KVM with them" fails 1 "in use" rmmod kvm_amd
kill $holder
sleep 0.5
ok "until the holder ends" rmmod kvm_amd
ok "no KVM" fails 4 "/dev/kvm cannot be opened" $hello -n 3 -j 2
ok "nor to hold" fails 4 "hint: load kvm_amd" $hello --hold
finish
