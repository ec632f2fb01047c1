# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # what is set here is used by the tests
# What the tests of the build share: the places, and TAP. To be sourced.
#
# The places are those of mk/config.mk, for the kernel that was built for last.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$top" || exit 1
kver=$(cat build/kver 2>/dev/null) || { echo "Bail out! nothing was built: run make modules"; exit 1; }
deb=$top/build/debian/$kver
ksrc=$deb/src
khdr=$deb/root/usr/src/linux-headers-$kver
out=$top/build/$kver
mods=$out/modules
test_nr=0 test_failed=0

plan() { echo "1..$1"; }

# Lines that tests/run shows: what went wrong, not more than can be read.
diag() { sed 's/^/#  /' | head -"${1:-40}"; }

# result STATUS NAME [FILE]: one test; if it failed, FILE says why.
result() {
	test_nr=$((test_nr + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $test_nr - $2"
	else
		test_failed=1
		echo "not ok $test_nr - $2"
		[ $# -lt 3 ] || diag <"$3"
	fi
}

# silent NAME COMMAND...: a command that has nothing to say and succeeds.
silent() {
	local name=$1 rc=0
	shift
	"$@" >"$tmp/said" 2>&1 || rc=$?
	[ ! -s "$tmp/said" ] || rc=1
	result $rc "$name" "$tmp/said"
}

finish() { exit "$test_failed"; }

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
