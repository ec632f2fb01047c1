# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Say ok and not ok as prove and tests/run read it. Sourced by *.t files.

tap_nr=0
tap_failed=0

diag() { printf '%s\n' "$*" | sed 's/^/#  /'; }

# ok DESCRIPTION COMMAND...: a test that the command succeeds. What it printed is
# shown if it did not.
ok() {
	local tap_what=$1 tap_said rc=0
	shift
	tap_nr=$((tap_nr + 1))
	tap_said=$("$@" 2>&1) || rc=$?
	if [ "$rc" -eq 0 ]; then
		echo "ok $tap_nr - $tap_what"
		return 0
	fi
	echo "not ok $tap_nr - $tap_what"
	tap_failed=$((tap_failed + 1))
	diag "status $rc: $*"
	[ -z "$tap_said" ] || diag "$tap_said"
	return 0
}

# fails STATUS TEXT COMMAND...: the command ends with that status and says TEXT.
fails() {
	local tap_status=$1 tap_text=$2 tap_out rc=0
	shift 2
	tap_out=$("$@" 2>&1) || rc=$?
	if [ "$rc" -ne "$tap_status" ]; then
		echo "status $rc and not $tap_status: $tap_out"
		return 1
	fi
	case "$tap_out" in
	*"$tap_text"*) return 0 ;;
	esac
	echo "does not say '$tap_text': $tap_out"
	return 1
}

is() { [ "$1" = "$2" ] || { echo "is '$1' and not '$2'"; return 1; }; }

finish() {
	echo "1..$tap_nr"
	[ "$tap_failed" -eq 0 ]
	exit $?
}
