#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Guests that mean harm: with the MSR, and with what they say in the hint.
# lab: --armed --single --timeout 300
# shellcheck disable=SC2016 # perl's variables
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh

rounds=3
seen() {	# seen FACT: in how many calls of rank()
	kvmyield -j status | perl -MJSON::PP -e '
		my $fact = shift;
		local $/;
		print decode_json(<>)->{counters}{seen}{$fact}' "$1"
}
more_than() { [ "$1" -gt "$2" ] || { echo "$1 is not more than $2"; return 1; }; }

ok "the default policy is loaded" kvmyield load yield_policy
before=$(dmesg | wc -l)
ok "100,000 random values while memory comes and goes" test-hostile msr 100000
ok "vCPUs lost their CPU meanwhile, and some had a hint" more_than "$(seen hint)" 100
ok "nothing that the guest did is in the log" is "$(dmesg | wc -l)" "$before"

# liars POLICY: run them in turns with honest ones; adds what siblings and neighbours took.
liars() {
	local i s n
	honest=0 honest_other=0 lied=0 lied_other=0
	for ((i = 0; i < rounds; i++)); do
		read -r s n < <(timeout 60 test-hostile liar no) || return
		honest=$((honest + s)) honest_other=$((honest_other + n))
		read -r s n < <(timeout 60 test-hostile liar yes) || return
		lied=$((lied + s)) lied_other=$((lied_other + n))
	done
}
# Siblings wait for each other's turns, lie or not: how long varies tenfold, and only
# that they come to their end is tested.
at_most() { [ "$1" -le "$2" ] || { echo "$1 ms and not at most $2"; return 1; }; }

for policy in yield_policy critical_section; do
	ok "$policy is there" kvmyield replace $policy
	ended=yes
	liars || ended=no
	ok "$policy: the liar's siblings come to their end" is $ended yes
	ok "$policy: another VM loses nothing that can be told" at_most "$lied_other" $((2 * honest_other + 1000))
	echo "# siblings: $lied ms, without the lie $honest; another VM: $lied_other ms, without $honest_other"
done
ok "it is unloaded" kvmyield unload
finish
