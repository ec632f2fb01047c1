#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Is the source as it should be? Linux's own tools for what goes into Linux, one
# for scripts, and nothing in git that does not belong there.
set -uo pipefail
. "$(dirname "$0")/lib.sh"

mapfile -t sources < <(find kernel -name '*.[ch]' | sort)
mapfile -t patches < <(find kernel/patches -name '*.patch' | sort)
# Of what is in git, and of what is about to be.
mapfile -t files < <(git ls-files -co --exclude-standard)
scripts=()
for f in "${files[@]}"; do
	[ -f "$f" ] && head -1 "$f" | grep -qE '^#!.*\b(ba|da|)sh\b' && scripts+=("$f")
done

# New files are not listed in MAINTAINERS, and a series is signed when it is sent.
# It keeps a file where it runs.
checkpatch() {
	(cd "$tmp" && perl "$ksrc/scripts/checkpatch.pl" --strict --quiet --no-summary \
		--show-types --ignore FILE_PATH_CHANGES --no-signoff --no-tree "$@")
}

# Through a pipe: of a file that is in git checkpatch thinks that it is source.
checkpatch_patches() {
	local p
	for p in "${patches[@]}"; do
		checkpatch - <"$p" | sed "s|^|${p##*/}: |"
	done
}

# sparse_on SOURCE OBJECT HOW: the compiler's own command line of the last build, given to sparse. HOW
# makes the object.
sparse_on() {
	local ours=$1 obj=$2 how=$3 cmd src
	src=${obj%.o}.c
	cmd=$(sed -nE 's/^savedcmd_[^ ]* := +[^ ]*gcc(-[0-9]+)? (.*) -c -o .*/\2/p' "$(dirname "$obj")/.$(basename "$obj").cmd")
	cmp "$ours" "$src" || { echo "it is not what was built: run $how"; return 1; }
	[ -n "$cmd" ] || { echo "no compiler command of $obj: run $how"; return 1; }
	# The flags are words of a shell, quotes and all.
	(cd "$khdr" && eval "sparse -D__linux__ -Dlinux -D__STDC__ -Dunix -D__unix__ -D__CHECKER__ \
		-Wbitwise -Wno-return-void -Wno-unknown-attribute -mlittle-endian -m64 \
		--arch=x86 $cmd '$src'") 2>&1 | grep -E '/(yield[a-z_]*|kvm_yield|kvm_preempt_count)\.[ch]:[0-9:]+ (warning|error)|No such file|not found'
	return 0
}

# A file of ours at a path at which Linux has one is Linux's.
linux_files() {
	local f
	for f in "${files[@]}"; do
		case "$f" in
		kernel/patches/* | kernel/mktree | kernel/fetch | kernel/kernel.mk) ;;
		kernel/*) [ ! -e "$ksrc/${f#kernel/}" ] || echo "$f" ;;
		esac
	done
}

generated_files() {
	printf '%s\n' "${files[@]}" |
		grep -E '\.(o|a|ko|mod|mod\.c|cmd|symvers|btf|skel\.h|cpio|xz|gz|deb|orig|rej|log)$|^build/'
	git grep -Il '' -- . >"$tmp/text"
	git ls-files | sort | comm -13 <(sort "$tmp/text") - |
		while read -r f; do [ ! -s "$f" ] || echo "$f is not text"; done
	return 0
}

# build/ is ignored, at the top only.
ignored_sources() {
	find kernel bpf include loader lab bench tests mk docs packaging -type f 2>/dev/null |
		git check-ignore --no-index -v --stdin
	return 0
}

# The words are split so that this file does not find itself.
grep_files() {
	grep -nE "$1" -- "${files[@]}" /dev/null 2>/dev/null
	return 0
}

without_spdx() {
	local f
	for f in "${files[@]}"; do
		case "$f" in
		*.c | *.h | *.sh | *.mk | *.t | Makefile) head -2 "$f" | grep -q 'SPDX-License-Identifier: GPL-2.0' || echo "$f" ;;
		esac
	done
}

# What the host's modules are made of; the guest's half is built by itself.
hosts=(kernel/arch/x86/kvm/*.c kernel/virt/kvm/*.c)

plan $((12 + ${#hosts[@]}))
silent "checkpatch --strict: ${#sources[@]} files of kernel/" checkpatch -f "${sources[@]/#/$top/}"
silent "checkpatch --strict: ${#patches[@]} patches" checkpatch_patches
for f in "${hosts[@]}"; do
	o=$out/kvm/${f#kernel/}
	silent "sparse: $(basename "$f")" sparse_on "$f" "${o%.c}.o" "make modules"
done
silent "sparse: kvm_preempt_count.c" sparse_on kernel/arch/x86/kernel/kvm_preempt_count.c \
	"$out/guest/kvm_preempt_count.o" "make guest-module"
silent "kernel-doc: ${#sources[@]} files of kernel/" perl "$ksrc/scripts/kernel-doc" -none -Wall "${sources[@]}"
# Functions are called by name, which it takes for never.
if command -v shellcheck >/dev/null; then
	silent "shellcheck: ${#scripts[@]} scripts" shellcheck -x -P SCRIPTDIR -e SC2317 "${scripts[@]}"
else
	echo "shellcheck is not installed: run make deps" >"$tmp/said"
	result 1 "shellcheck: ${#scripts[@]} scripts" "$tmp/said"
fi
silent "no file of Linux is here" linux_files
silent "no generated file is here" generated_files
silent "git ignores no source" ignored_sources
silent "no path of a machine is here" grep_files "(^|[^a-z.])/(wor[k]|hom[e])/|$top"
silent "nothing is left to be done later" grep_files 'TOD[O]|FIXM[E]|\bXX[X]\b'
silent "every source says that it is GPL-2.0" without_spdx
silent "no white space at the ends of lines" grep_files '[^-+ ][ 	]+$'
finish
