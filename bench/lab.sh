# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What comparisons of policies in the emulated host share: its settings, kept and put back; the policy
# that decides; the guests; one turn of a workload. Sourced; the script sets $self, the name its
# messages begin with, $make, the target that builds it, and $results, the directory for raw data.
: "${self:?}" "${make:?}"

# shellcheck disable=SC2034	# for who sources this
slice_file=/sys/kernel/debug/sched/base_slice_ns
budget_file=/sys/module/kvm/parameters/yield_refusal_budget
current=built-in		# what decides now: no policy, or the policy of this name
lab_began=$SECONDS
declare -A counter=()		# what the attached policy has counted, by name
declare -A lab_guest=()		# how each guest was started

die() {		# die STATUS SENTENCE [HINT]
	printf '%s: %s\n' "$self" "$2" >&2
	[ $# -lt 3 ] || printf 'hint: %s\n' "$3" >&2
	exit "$1"
}

# numbers HELP NAME=VALUE...: options that take a whole number
numbers() {
	local help=$1 n
	shift
	for n in "$@"; do
		[[ ${n#*=} =~ ^[1-9][0-9]{0,5}$ ]] ||
			die 2 "--${n%%=*} must be a whole number from 1 to 999999, not \"${n#*=}\"" "$help"
	done
}

clock() {	# clock SECONDS
	printf '%d:%02d' $(($1 / 60)) $(($1 % 60))
}

elapsed() {
	clock $((SECONDS - lab_began))
}

shuffle() {	# shuffle WORD...: in $order
	local i j swap
	order=("$@")
	for ((i = $# - 1; i > 0; i--)); do
		j=$((RANDOM % (i + 1)))
		swap=${order[i]}
		order[i]=${order[j]}
		order[j]=$swap
	done
}

# Comparisons change the scheduler and the policy of the host that they run on: of no other than the lab.
lab_check() {	# lab_check HINT
	local p
	[ "${KVMYIELD_LAB-}" = 1 ] || die 2 "this is not the lab" "$1"
	[[ -n $results && -d $results ]] || die 2 "KVMYIELD_RESULTS does not name a directory" "lab/run sets it"
	for p in kvmyield kvmyield-summary; do
		command -v "$p" >/dev/null || die 2 "the program $p is missing" "$make builds it"
	done
	[ -w "$slice_file" ] || die 2 "$slice_file is missing: is debugfs mounted?" "the lab mounts it"
	[ -w "$budget_file" ] || die 2 "this KVM has no yield hook" "lab/run without --stock, or make modules"
}

# shellcheck disable=SC2317	# called by the trap
lab_restore() {
	local status=$?
	trap '' INT TERM
	[ "$current" = built-in ] || kvmyield -q unload || status=1
	echo "$old_budget" >"$budget_file" || status=1
	echo "$old_slice" >"$slice_file" || status=1
	guest_stop_all || status=1
	exit "$status"
}

# lab_keep: from now on, whatever ends the script, the lab is left as it is now. Sources lab/guest.
lab_keep() {
	old_slice=$(<"$slice_file")
	old_budget=$(<"$budget_file")
	# shellcheck source=/dev/null
	. "$(dirname "${BASH_SOURCE[0]}")/../lab/guest"
	trap lab_restore EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
}

lab_slice() {	# lab_slice MILLISECONDS
	echo "$(($1 * 1000000))" >"$slice_file"
}

# The counters belong to the attached policy and end with it: whoever switches has read them.
switch() {	# switch ARM
	local to=$1
	[ "$to" != "$current" ] || return 0
	# KVM would detach a policy that refuses everybody.
	[ "$to" != never ] || echo 0 >"$budget_file"
	if [ "$to" = built-in ]; then
		kvmyield -q unload || die 1 "kvmyield unload failed"
	elif [ "$current" = built-in ]; then
		kvmyield -q load "$to" || die 1 "kvmyield load $to failed"
	else
		kvmyield -q replace "$to" || die 1 "kvmyield replace $to failed"
	fi
	current=$to
	[ "$to" = never ] || echo "$old_budget" >"$budget_file"
}

# read_counters: in $counter what the policy has counted since it was attached, as it is in kvmyield -j
# status, and the whole of that in $status_json. Fails if the policy is no longer there, with kvmyield's
# exit status in $status_exit: 5 if KVM has ejected it.
read_counters() {
	local line name=''
	counter=() status_json='' status_exit=0
	[ "$current" != built-in ] || return 0
	status_json=$(kvmyield -j status) || status_exit=$?
	# One field a line; the attached policy's come first.
	while IFS= read -r line; do
		if [[ $line =~ ^\ *\"policy\":\ \"([^\"]*)\" ]]; then
			: "${name:=${BASH_REMATCH[1]}}"
		elif [[ $line =~ ^\ *\"([a-z_]+)\":\ ([0-9]+),?$ && -z ${counter[${BASH_REMATCH[1]}]-} ]]; then
			counter[${BASH_REMATCH[1]}]=${BASH_REMATCH[2]}
		fi
	done <<<"$status_json"
	[[ $status_exit -eq 0 && $name = "$current" ]] || return 1
	[[ -n ${counter[spins]-} && -n ${counter[yields]-} ]] || die 1 "kvmyield -j status has no counters"
}

# guest NAME VCPUS MEM [KERNEL-ARG...]: all are started before one is waited for.
guest() {
	lab_guest[$1]=$*
	guest_start "$@" || die 1 "the guest $1 cannot be started"
}

await() {	# await NAME: until a guest is up, with a sign of life
	local waiter tries=1
	while :; do
		guest_wait "$1" 240 2>"$results/stderr.txt" &
		waiter=$!
		while kill -0 "$waiter" 2>/dev/null; do
			printf '.'
			sleep 1
		done
		wait "$waiter" && return 0
		# A fault of the emulation, not of what is shown here, and seldom twice.
		if ! grep -q 'Oops: int3' "$(guest_log "$1")" || [ "$tries" -eq 3 ]; then
			echo
			cat "$results/stderr.txt" >&2
			die 1 "the guest $1 did not come up"
		fi
		cp "$(guest_log "$1")" "$results/guest-$1-int3-$tries.log"
		guest_stop "$1" 2>/dev/null || true
		tries=$((tries + 1))
		printf '\n%s' "The guest $1 ran into a known fault of QEMU's emulation (int3) as it booted; once more "
		# shellcheck disable=SC2086	# the arguments of guest_start
		guest ${lab_guest[$1]}
	done
}

# again SECONDS COMMAND: a guest's command line that runs COMMAND as often as it can be begun in that time,
# by the guest's clock, which counts in 1/100 s.
# Some runs are quick, and slow by a factor of fifty if their threads once queue up behind a vCPU that
# has no CPU. A turn of a given length has some of both, and always takes about as long.
again() {
	# shellcheck disable=SC2016	# the guest's variables
	printf 'now() { read -r t _ </proc/uptime; t=${t%%.*}${t#*.}; }
now
end=$((t + %s00))
while now; [ "$t" -lt "$end" ]; do %s || exit 1; done\n' "$1" "$2"
}

# one_turn GUEST LIMIT NAME COMMAND: runs COMMAND in the guest; it prints a line "Time: SECONDS" for each
# run. Each one's in $each, their mean in $mean. Fails if it was ended at LIMIT, which counts as one run
# of so long: ranks decide the table, and it would be at the end of them anyway.
one_turn() {
	local out status=0
	out=$(guest_run "$1" "$2" "$4" 2>"$results/stderr.txt") || status=$?
	if [ "$status" -eq 124 ]; then
		mean=$2.0 each=$mean
		return 1
	fi
	if [ "$status" -ne 0 ]; then
		cat "$results/stderr.txt" >&2
		die 1 "$3 failed under $current"
	fi
	each=$(sed -n 's/^Time: \([0-9][0-9]*\.[0-9]*\)$/\1/p' <<<"$out")
	[ -n "$each" ] || die 1 "$3 said no time under $current: $out"
	mean=$(awk '{ sum += $1 } END { printf "%.4f", sum / NR }' <<<"$each")
}
