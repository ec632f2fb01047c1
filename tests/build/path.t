#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A clone whose path make cannot handle is refused before anything is written or deleted.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/my clone" "$tmp/my"
cp -r Makefile mk kernel "$tmp/my clone/"
touch "$tmp/my/precious"

nr=0
check() {	# check GOAL
	local said rc=0
	said=$(cd "$tmp/my clone" && env -u MAKEFLAGS -u MAKELEVEL make "$1" 2>&1) || rc=$?
	nr=$((nr + 1))
	if [[ $rc -eq 2 && $said = *'has a space in it; move it'* && -e $tmp/my/precious && ! -e "$tmp/my clone/build" ]]; then
		echo "ok $nr - make $1 in a path with a space is refused"
	else
		echo "not ok $nr - make $1 in a path with a space is refused"
		printf '# exit status %s: %s\n' "$rc" "$said"
	fi
}

echo 1..3
check modules
check clean
check distclean
[ "$nr" -eq 3 ]
