#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Is what we build Debian's KVM? An unpatched rebuild must export the same
# symbols with the same CRCs, and the patched modules the same symbols.
set -uo pipefail
. "$(dirname "$0")/lib.sh"

# CRC NAME MODULE KIND of what the three modules export, by name
exports() {
	awk '$3 ~ /(^|\/)arch\/x86\/kvm\/kvm(-amd|-intel)?$/ {
		sub(/.*\//, "", $3); print $2, $1, $3, $4 }' "$1" | sort
}

# The differences of two lists, as lines to read; nothing if there are none.
compare() {
	join -a1 -a2 -e '(none)' -o '0,1.2,1.3,1.4,2.2,2.3,2.4' "$1" "$2" |
		awk '$2 != $5 || $3 != $6 || $4 != $7 {
			print $1 ": Debian " $2, $3, $4 "; ours " $5, $6, $7 }'
}

# The names that a module file exports, from its own symbol table
names_of() {
	nm "$1" | sed -nE 's/.* __ksymtab_(.*)/\1/p' | sort
}

plan 6
debian=$khdr/Module.symvers
stock=$out/stock/arch/x86/kvm/Module.symvers
exports "$debian" >"$tmp/debian"
exports "$stock" >"$tmp/stock"
nr=$(wc -l <"$tmp/debian")

echo "Debian's modules export $nr symbols, the rebuilt ones $(wc -l <"$tmp/stock")" >"$tmp/why"
[ "$nr" -gt 0 ] && [ "$nr" -eq "$(wc -l <"$tmp/stock")" ]
result $? "an unpatched rebuild exports as many symbols as Debian's KVM: $nr" "$tmp/why"

compare "$tmp/debian" "$tmp/stock" >"$tmp/why"
[ "$nr" -gt 0 ] && [ ! -s "$tmp/why" ]
result $? "all $nr export CRCs of the rebuild equal Debian's" "$tmp/why"

# Whoever compares nothing finds no difference.
victim=$(shuf -n1 "$tmp/stock" | cut -d' ' -f1)
awk -v v="$victim" '$1 == v { $2 = "0xdeadbeef" } 1' "$tmp/stock" >"$tmp/changed"
compare "$tmp/debian" "$tmp/changed" >"$tmp/why"
[ "$(wc -l <"$tmp/why")" -eq 1 ] && grep -q "^$victim: .*0xdeadbeef" "$tmp/why"
result $? "one changed CRC ($victim) is seen" "$tmp/why"

for m in kvm kvm-amd kvm-intel; do
	awk -v m=$m '$3 == m { print $1 }' "$tmp/debian" >"$tmp/want"
	names_of "$mods/$m.ko" >"$tmp/got"
	diff "$tmp/want" "$tmp/got" >"$tmp/why"
	result $? "the patched $m.ko exports the names that Debian's does: $(wc -l <"$tmp/got")" "$tmp/why"
done
finish
