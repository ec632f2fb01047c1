#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Is preempt_count still laid out as include/kvmyield_preempt.bpf.h reads it? The widths and the inverted
# bit are compared to those of the Linux that we build for.
set -uo pipefail
. "$(dirname "$0")/lib.sh"

# widths FILE: the fields from the lowest bit up
widths() {
	local field
	for field in PREEMPT SOFTIRQ HARDIRQ NMI; do
		sed -nE "s/^#define ${field}_BITS[[:space:]]+([0-9]+)$/$field \1/p" "$1"
	done
}

# ours: the same from our masks, which have to follow each other without a gap
ours() {
	local field mask low=0 bits
	for field in PREEMPT_DEPTH SOFTIRQ HARDIRQ NMI; do
		mask=$((0x$(sed -nE "s/^#define KVMYIELD_${field}[[:space:]]+0x([0-9a-f]+)u$/\1/p" "$header")))
		bits=0
		while ((mask >> (low + bits) & 1)); do
			bits=$((bits + 1))
		done
		((mask == ((1 << bits) - 1) << low)) || echo "$field is not one field at bit $low"
		echo "${field%_DEPTH} $bits"
		low=$((low + bits))
	done
}

same() {
	if ! [ -s "$1" ] || ! diff "$1" "$2"; then
		echo "Linux has the one with <, we have the one with >"
	fi
}

header=include/kvmyield_preempt.bpf.h
widths "$ksrc/include/linux/preempt.h" >"$tmp/linux"
ours >"$tmp/ours"
grep -ohE '^#define PREEMPT_NEED_RESCHED[[:space:]]+0x[0-9a-f]+' "$ksrc/arch/x86/include/asm/preempt.h" |
	grep -oE '0x.*' >"$tmp/linux_bit"
sed -nE 's/^#define KVMYIELD_NO_NEED_RESCHED[[:space:]]+(0x[0-9a-f]+)u$/\1/p' $header >"$tmp/our_bit"

plan 2
silent "the fields of preempt_count are Linux's" same "$tmp/linux" "$tmp/ours"
silent "need-resched is where Linux has it" same "$tmp/linux_bit" "$tmp/our_bit"
finish
