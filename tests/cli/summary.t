#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The table of a comparison, as it is printed: are its figures still figures if an arm is very much smaller?
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh

SUMMARY=${SUMMARY:-build/bin/kvmyield-summary}

# table FACTOR: of ten rounds, arm b near FACTOR of arm a
table() {
	awk -v f="$1" 'BEGIN { for (i = 1; i <= 10; i++) { print i, "a", 100 + i; print i, "b", (100 + i * i % 7) * f } }' |
		"$SUMMARY" --unit us
}

has() {		# has PATTERN FACTOR
	table "$2" >/tmp/table.$$ 2>&1
	grep -Eq -- "$1" /tmp/table.$$ || { cat /tmp/table.$$; false; }
}
trap 'rm -f /tmp/table.$$' EXIT

ok "about as large: two digits" has '0\.[89][0-9] x as long \[0\.[0-9]{2}, [01]\.[0-9]{2}\]' 0.95
ok "a tenth: one digit more" has '0\.09[0-9] x as long \[0\.0[0-9]{2}, 0\.[0-9]{3}\]: shorter' 0.1
ok "a ten-thousandth is not 0.00" has '0\.0000[0-9]{2} x as long \[0\.0000[0-9]{2}, 0\.000[0-9]{3}\]: shorter' 0.0001
ok "ten times" has '9\.[0-9]{2} x as long \[9\.[0-9]{2}, [0-9.]+\]: longer' 10

finish
