#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# kvmyield's command line where there is no hook: each wrong input gets its sentence, its hint, its
# exit status, and leaves nothing behind. Needs no root, no lab. Run by prove.
#
# KVMYIELD names the program (build/bin/kvmyield), CLANG the compiler of the test's objects (clang-19).
set -u

top=$(cd "$(dirname "$0")/../.." && pwd -P)
KVMYIELD=${KVMYIELD:-$top/build/bin/kvmyield}
CLANG=${CLANG:-clang-19}
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
# mktemp's 0700 would keep the unprivileged user of some cases out.
chmod 755 "$tmp"
mkdir "$tmp/policies" "$tmp/bad"
export KVMYIELD_POLICY_PATH=$tmp/policies:$tmp/absent
n=0

ok() {		# ok WHAT: the last command's status decides
	local good=$?
	n=$((n + 1))
	if [ $good = 0 ]; then
		echo "ok $n - $1"
		return
	fi
	echo "not ok $n - $1"
	sed 's/^/# stdout: /' "$tmp/out"
	sed 's/^/# stderr: /' "$tmp/err"
	echo "# status: ${status:-?}"
}

skip() { n=$((n + 1)); echo "ok $n # skip $1"; }

run() { "$@" >"$tmp/out" 2>"$tmp/err"; status=$?; }

says() { grep -Fq -- "$1" "$tmp/out"; }

# refused STATUS SENTENCE HINT ARGUMENT...: exactly one sentence (and one hint, unless it is '') on stderr
refused() {
	local want=$1 sentence=$2 hint=$3
	shift 3
	run "$KVMYIELD" "$@"
	[ "$status" = "$want" ] && [ ! -s "$tmp/out" ] &&
		[ "$(grep -c '^kvmyield: ' "$tmp/err")" = 1 ] &&
		[ "$(wc -l <"$tmp/err")" -le 2 ] &&
		grep -Fq -- "$sentence" "$tmp/err" &&
		{ [ -z "$hint" ] || grep '^hint: ' "$tmp/err" | grep -Fq -- "$hint"; }
	ok "$*: $sentence"
}

object() {	# object FILE: compiles stdin, after what every object here needs
	{ cat <<-'END'; cat; } >"$tmp/object.c"
		#define SEC(name) __attribute__((section(name), used))
		typedef unsigned char u8; typedef unsigned int u32; typedef unsigned long long u64;
		struct kvm_yield_spin; struct kvm_yield_candidate;
		struct kvm_yield_ops {
			int (*rank)(const struct kvm_yield_spin *, struct kvm_yield_candidate *);
			void (*yielded)(const struct kvm_yield_spin *, const struct kvm_yield_candidate *, int);
			int vm_pid;
			char name[32];
		};
		struct tcp_congestion_ops { u32 (*ssthresh)(void *sk); char name[16]; };
		char _license[] SEC("license") = "GPL";
	END
	"$CLANG" -target bpf -g -O2 -Wno-visibility -c "$tmp/object.c" -o "$1" || { echo "Bail out! $CLANG failed"; exit 1; }
}

rank='SEC("struct_ops/rank") int rank(u64 *ctx) { return 0; }'
ops='.rank = (void *)rank'

object "$tmp/policies/good.bpf.o" <<-END
	const char desc[] SEC("kvmyield.desc") = "a good one";
	const volatile u32 slice = 3;
	const volatile _Bool eager = 1;
	const volatile signed char bias = -4;
	const volatile u64 large = ~0ULL;
	SEC("struct_ops/rank") int rank(u64 *ctx) { return slice + eager + bias + large; }
	SEC(".struct_ops.link") struct kvm_yield_ops good = { $ops, .name = "good-policy" };
END
object "$tmp/policies/plain.bpf.o" <<-END
	$rank
	SEC(".struct_ops.link") struct kvm_yield_ops plain = { $ops, .name = "plain" };
END
object "$tmp/bad/none.bpf.o" <<-END
	SEC("socket") int prog(void *ctx) { return 0; }
END
object "$tmp/bad/tcp.bpf.o" <<-END
	SEC("struct_ops/ssthresh") u32 ssthresh(u64 *ctx) { return 2; }
	SEC(".struct_ops.link") struct tcp_congestion_ops tcp = { .ssthresh = (void *)ssthresh, .name = "tcp" };
END
object "$tmp/bad/two.bpf.o" <<-END
	$rank
	SEC(".struct_ops.link") struct kvm_yield_ops one = { $ops, .name = "one" };
	SEC(".struct_ops.link") struct kvm_yield_ops two = { $ops, .name = "two" };
END
object "$tmp/bad/nolink.bpf.o" <<-END
	$rank
	SEC(".struct_ops") struct kvm_yield_ops nolink = { $ops, .name = "nolink" };
END
object "$tmp/bad/noname.bpf.o" <<-END
	$rank
	SEC(".struct_ops.link") struct kvm_yield_ops noname = { $ops };
END
object "$tmp/bad/badname.bpf.o" <<-END
	$rank
	SEC(".struct_ops.link") struct kvm_yield_ops badname = { $ops, .name = "a\033[31m b" };
END
object "$tmp/bad/longname.bpf.o" <<-END
	$rank
	SEC(".struct_ops.link") struct kvm_yield_ops longname = { $ops, .name = "0123456789012345678901234567890x" };
END
object "$tmp/bad/norank.bpf.o" <<-END
	SEC(".struct_ops.link") struct kvm_yield_ops norank = { .name = "norank" };
END
echo 'int main(void) { return 0; }' >"$tmp/x.c"
"$CLANG" -c "$tmp/x.c" -o "$tmp/bad/x86.bpf.o"
: >"$tmp/bad/empty.bpf.o"
echo hello >"$tmp/bad/text.bpf.o"
head -c 40 "$tmp/policies/good.bpf.o" >"$tmp/bad/header.bpf.o"
head -c 700 "$tmp/policies/good.bpf.o" >"$tmp/bad/cut.bpf.o"
cp "$tmp/policies/good.bpf.o" "$tmp/bad/secret.bpf.o"
chmod 0 "$tmp/bad/secret.bpf.o"
mkfifo "$tmp/bad/fifo.bpf.o"
truncate -s 17M "$tmp/bad/large.bpf.o"

# Usage
refused 1 "a verb is missing" "kvmyield help"
refused 1 "there is no verb 'laod'" "did you mean 'kvmyield load'?" laod
refused 1 "there is no verb 'feat'" "did you mean 'kvmyield features'?" feat
refused 1 "there is no verb 'qwertyuiop'" "kvmyield help" qwertyuiop
refused 1 "there is no verb 'unlaod'" "kvmyield unload" help unlaod
refused 1 "there is no option '--frob'" "kvmyield --help" --frob status
refused 1 "there is no option '-x'" "kvmyield --help" status -x
refused 1 "there is no option '--quiet=yes'" "kvmyield --help" --quiet=yes status
refused 1 "status has no option --force" "usage: kvmyield status" status --force
for pid in 0 -1 x 12x '' 2147483648 ' 1'; do
	refused 1 "--vm cannot be '$pid'" "the process that runs the VM" status "--vm=$pid"
done
refused 1 "--vm needs a process id" "the process that runs the VM" features --vm
refused 1 "--vm cannot be 'status'" "the process that runs the VM" --vm status
refused 1 "list has no option --vm" "usage: kvmyield list" list --vm 1
for verb in load replace check; do
	refused 1 "$verb needs a policy" "usage: kvmyield $verb POLICY" $verb
done
for verb in unload status features; do
	refused 1 "$verb does not take the argument 'extra'" "usage: kvmyield $verb" $verb extra
done
refused 1 "status does not take the argument '1'" "usage: kvmyield status [--vm PID]" status --vm 1 1
refused 1 "list does not take the argument 'b'" "usage: kvmyield list" list good b

for args in --help -h help "help load" "load --help" "help features" "help status" "features --help"; do
	# shellcheck disable=SC2086
	run "$KVMYIELD" $args
	[ $status = 0 ] && says "usage: kvmyield" && says "5 ejected" && [ ! -s "$tmp/err" ]
	ok "$args: help, with the exit statuses"
done
run "$KVMYIELD" --version
[ $status = 0 ] && grep -Eqx 'kvmyield [0-9.]+' "$tmp/out"
ok "--version"
"$KVMYIELD" list >/dev/full 2>"$tmp/err"
status=$?
[ $status = 2 ] && grep -q 'could not be written' "$tmp/err"
ok "a full disk is noticed"

# What is not a policy, for each verb that takes one
for verb in load replace check list; do
	refused 1 "there is no policy 'goood'" "did you mean 'good'?" $verb goood
done
refused 1 "there is no policy 'zzzzzzzz'" "kvmyield list" load zzzzzzzz
refused 1 "there is no policy ''" "kvmyield list" load ''
refused 1 "there is no file $tmp/nowhere.bpf.o" "kvmyield list" load "$tmp/nowhere.bpf.o"
refused 1 "there is no file $tmp/x.c/y" "kvmyield list" load "$tmp/x.c/y"
refused 1 "is a directory, not a policy" "one .bpf.o file" load "$tmp/policies/"
refused 1 "is empty" "" load "$tmp/bad/empty.bpf.o"
refused 1 "is not an ELF file" "clang -target bpf" load "$tmp/bad/text.bpf.o"
refused 1 "only the beginning of an ELF header" "clang -target bpf" load "$tmp/bad/header.bpf.o"
refused 1 "is not a BPF object that can be loaded" "" load "$tmp/bad/cut.bpf.o"
refused 1 "is not a file" "" load "$tmp/bad/fifo.bpf.o"
refused 1 "is too large for a policy" "" load "$tmp/bad/large.bpf.o"
refused 1 "holds code for x86-64, not BPF" "clang -target bpf" load "$tmp/bad/x86.bpf.o"
refused 1 "is a BPF object without a struct_ops" "SEC(\".struct_ops.link\")" load "$tmp/bad/none.bpf.o"
refused 1 "holds a struct_ops of type tcp_congestion_ops, not kvm_yield_ops" "" load "$tmp/bad/tcp.bpf.o"
refused 1 "holds more than one policy: 'one' and 'two'" "one policy a file" load "$tmp/bad/two.bpf.o"
refused 1 "cannot be attached by a link" "SEC(\".struct_ops.link\")" load "$tmp/bad/nolink.bpf.o"
refused 1 "has no name" "set .name" load "$tmp/bad/noname.bpf.o"
refused 1 "has a name that is not allowed" "set .name" load "$tmp/bad/badname.bpf.o"
refused 1 "has a name that is not allowed" "set .name" load "$tmp/bad/longname.bpf.o"
refused 1 "the policy 'norank' has no rank()" "" load "$tmp/bad/norank.bpf.o"
if [ "$(id -u)" = 0 ] && setpriv --reuid=65534 --regid=65534 --clear-groups "$KVMYIELD" -V >"$tmp/out" 2>"$tmp/err"; then
	run setpriv --reuid=65534 --regid=65534 --clear-groups "$KVMYIELD" load "$tmp/bad/secret.bpf.o"
	[ $status = 2 ] && grep -q 'secret.bpf.o: permission denied' "$tmp/err"
	ok "a file that may not be read"
	run setpriv --reuid=65534 --regid=65534 --clear-groups "$KVMYIELD" list
	[ $status = 0 ] && says 'a good one' && [ ! -s "$tmp/err" ]
	ok "list needs no privilege"
elif [ "$(id -u)" != 0 ]; then
	refused 2 "secret.bpf.o: permission denied" "" load "$tmp/bad/secret.bpf.o"
	run "$KVMYIELD" list
	[ $status = 0 ] && says 'a good one'
	ok "list needs no privilege"
else
	skip "no other user can run $KVMYIELD"
	skip "no other user can run $KVMYIELD"
fi

# Parameters
refused 1 "the policy 'good-policy' has no parameter 'slize'" "did you mean 'slice'?" load good slize=1
refused 1 "the policy 'good-policy' has no parameter 'foobar'" "are: slice, eager, bias, large" load good foobar=1
refused 1 "the policy 'plain' has no parameters: 'slice'" "leave out" load plain slice=1
refused 1 "'slice' is not a parameter" "NAME=VALUE" load good slice
refused 1 "'=3' is not a parameter" "NAME=VALUE" load good =3
refused 1 "the parameter slice is given twice" "" load good slice=1 slice=2
for bad in -1 4294967296 99999999999999999999999 0x100000000 '' x 1x ' 1' +1 0x 1.5; do
	refused 1 "the parameter slice cannot be '$bad': it is a u32, 0 to 4294967295" "" load good "slice=$bad"
done
for bad in -129 128; do
	refused 1 "the parameter bias cannot be '$bad': it is a s8, -128 to 127" "" check good "bias=$bad"
done
refused 1 "the parameter large cannot be '18446744073709551616'" "" load good large=18446744073709551616
refused 1 "the parameter eager cannot be 'yes'" "eager=true" load good eager=yes
refused 1 "the parameter eager cannot be '2'" "eager=true" load good eager=2

# list
run "$KVMYIELD" list
[ $status = 0 ] && grep -Eq '^  good +a good one$' "$tmp/out"
ok "list shows name and description"
run "$KVMYIELD" list -v
says "$tmp/policies/good.bpf.o" && says 'slice=3 (u32)' && says 'eager=true (bool)' && says 'bias=-4 (s8)' &&
	says '18446744073709551615'
ok "list -v shows paths and parameters"
run "$KVMYIELD" list good
[ $status = 0 ] && says 'slice=3 (u32)' && ! says plain
ok "list POLICY shows that one's"
cp "$tmp/bad/cut.bpf.o" "$tmp/policies/broken.bpf.o"
run "$KVMYIELD" list
[ $status = 0 ] && grep -Eq '^  broken +not usable: ' "$tmp/out" && says 'a good one' && [ ! -s "$tmp/err" ]
ok "a broken file does not hide the others"
rm "$tmp/policies/broken.bpf.o"
mkdir "$tmp/first"
cp "$tmp/policies/plain.bpf.o" "$tmp/first/good.bpf.o"
run env KVMYIELD_POLICY_PATH="$tmp/first:$tmp/policies" "$KVMYIELD" list -v
says "$tmp/first/good.bpf.o" && ! says "$tmp/policies/good.bpf.o"
ok "the first directory of the path wins"
run "$KVMYIELD" -q list
[ $status = 0 ] && [ ! -s "$tmp/out" ]
ok "-q says nothing"

# JSON
json() { python3 -c "import json, sys; d = json.load(open('$tmp/out')); sys.exit(not (d['schema'] == 1 and ($1)))"; }
run "$KVMYIELD" list -j
json "[p for p in d['policies'] if p['name'] == 'good'][0]['parameters'][0] == {'name': 'slice', 'type': 'u32', 'value': 3}"
ok "list -j: typed parameters"
json "[p for p in d['policies'] if p['name'] == 'good'][0]['policy'] == 'good-policy'"
ok "list -j: the policy's own name"
run "$KVMYIELD" load -j goood
[ $status = 1 ] && json "d['error']['status'] == 1 and d['error']['message'] == \"there is no policy 'goood'\" and 'good' in d['error']['hint']" &&
	[ -s "$tmp/err" ]
ok "errors are JSON too"
run "$KVMYIELD" -j load "$(printf '%s/\377\033.bpf.o' "$tmp")"
[ $status = 1 ] && json "'there is no file' in d['error']['message']" && ! grep -q "$(printf '\033')" "$tmp/err"
ok "names of any bytes are safe in JSON and on a terminal"
run "$KVMYIELD" -j --version
json "'version' in d"
ok "-j --version"

# Statistics of VMs, where there may be none
refused 1 "'x1' is no process id" "kvmyield stats lists" stats x1
refused 1 "there is no process 2147483647" "kvmyield stats lists" stats 2147483647
refused 1 "the process $$ has no VM" "kvmyield stats lists" stats $$
refused 1 "does not take the argument '2'" "usage: kvmyield stats" stats 1 2
refused 1 "--watch cannot be '0'" "" stats --watch=0
refused 1 "--watch cannot be 'nan'" "" stats --watch=nan
refused 1 "--count cannot be '-1'" "" stats --watch --count -1
refused 1 "--count means something only with --watch" "" stats --count 2
refused 1 "--output means something only with" "" stats -o "$tmp/x"
refused 1 "two formats" "" stats --prom --openmetrics
run "$KVMYIELD" stats --prom -j
[ $status = 1 ] && json "'metrics are not JSON' in d['error']['message']"
ok "stats --prom -j: one of them"
refused 1 "--watch has none" "-o FILE" stats --prom --watch
refused 1 "list has no option --watch" "usage: kvmyield list" list --watch
refused 1 "-o needs the name of a file" "" stats --prom -o ""
refused 1 "/dev/full is no regular file" "" stats --prom -o /dev/full
refused 1 "$tmp is no regular file" "" stats --prom -o "$tmp"
refused 2 "$tmp/absent/x cannot be written" "" stats --prom -o "$tmp/absent/x"
run "$KVMYIELD" stats --prom -o "$tmp/kvm.prom"
[ $status = 0 ] && grep -q '^# TYPE kvm_process_vms gauge$' "$tmp/kvm.prom" && [ ! -s "$tmp/out" ] &&
	[ "$(find "$tmp" -name '*kvm.prom*' | wc -l)" = 1 ]
ok "stats --prom -o FILE writes FILE and nothing else"
run "$KVMYIELD" -j stats
json "isinstance(d['processes'], list)"
ok "stats -j"

# No hook here
run "$KVMYIELD" features -j
if json "[f for f in d['features'] if f['name'] == 'hook'][0]['state'] == 'ok'"; then
	skip "this machine has the hook"
else
	[ $status = 4 ] && json "d['loadable'] is False and [f for f in d['features'] if f['name'] == 'hook'][0]['hint']"
	ok "features -j: exit status 4, and what to do"
	json "d['facts'] is None"
	ok "features -j: no facts where there is no hook"
	run "$KVMYIELD" features
	[ $status = 4 ] && grep -Eq '^hook +missing' "$tmp/out" && says 'hint: ' && says 'No policy can be loaded here.'
	ok "features: exit status 4, and what to do"
	grep -Eq '^facts +unknown  there is no hook to ask' "$tmp/out" && ! says preempted
	ok "features: no facts where there is no hook"
	if [ ! -e /sys/kernel/btf/vmlinux ]; then
		why="this kernel does not describe its types"
	elif [ ! -e /sys/module/kvm ]; then
		why="KVM is not loaded"
	else
		why="this kernel's KVM has no hook for yield policies"
	fi
	for args in "load good" "replace good" "check good" unload "unload --force" status "status --vm 1" \
		"features --vm 1" "load good slice=0x10 bias=-128 eager=false"; do
		# shellcheck disable=SC2086
		refused 4 "$why" "kvmyield features" $args
	done
	[ ! -e /sys/fs/bpf/kvmyield ]
	ok "nothing is left behind"
fi

echo "1..$n"
