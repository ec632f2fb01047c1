#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What status counts for the policy, for each VM and for each fact, and what features
# says of each VM: two guests spin, are stopped, and the numbers must add up.
# lab: --armed --timeout 240
# shellcheck disable=SC2016 # perl's variables
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh

# json EXPRESSION COMMAND...: it is true of the command's answer in $_
json() {
	local expr=$1
	shift
	"$@" 2>/dev/null >/tmp/json
	perl -MJSON::PP -MList::Util=sum0,all -e '
		local $/;
		$_ = decode_json(<>);
		my %vm = map { $_->{pid} => $_ } @{$_->{vms} // []};
		my $c = $_->{counters};
		my @counts = qw(spins candidates tries yields refused overruled bounded);
		# What is impossible of one account.
		sub sane {
			my $c = shift;
			$c->{yields} <= $c->{tries} && $c->{overruled} <= $c->{refused} &&
			$c->{refused} <= $c->{spins} &&
			(all { $_ <= $c->{candidates} } values %{$c->{seen}}) &&
			(all { $_ <= $c->{yields} } values %{$c->{chosen}}) &&
			(all { $c->{chosen}{$_} <= $c->{seen}{$_} } keys %{$c->{seen}}) &&
			$c->{seen}{preempted} + $c->{seen}{woken} == $c->{candidates} &&
			$c->{chosen}{preempted} + $c->{chosen}{woken} == $c->{yields};
		}
		# The parts of the policy'"'"'s account are those of the VMs.
		sub adds_up {
			my @of = map { $_->{counters} } values %vm;
			(all { my $k = $_; $c->{$k} == sum0 map { $_->{$k} } @of } @counts) &&
			all {
				my $what = $_;
				all {
					my $k = $_;
					$c->{$what}{$k} == sum0 map { $_->{$what}{$k} } @of
				} keys %{$c->{$what}};
			} qw(seen chosen);
		}
		sub fact {
			my ($of, $name) = @_;
			(grep { $_->{name} eq $name } @{$of->{facts}})[0]->{state};
		}
		exit !(do { '"$expr"' })' /tmp/json || { cat /tmp/json; return 1; }
}

status() { kvmyield -j status "$@"; }

# Both guests have had so many spins since the policy was attached.
spinning() {
	local tries=100
	until json '$vm{'"$a"'}{counters}{spins} > 500 && $vm{'"$b"'}{counters}{spins} > 500' \
			status >/tmp/said; do
		[ "$((tries--))" -gt 0 ] || { cat /tmp/said; return 1; }
		sleep 0.1
	done
}

# A signal makes each vCPU leave its guest, and its spin.
frozen() {
	kill -STOP "$a" "$b"
	local before=x after=
	while [ "$before" != "$after" ]; do
		before=$after
		sleep 0.3
		after=$(kvmyield status | grep -v ^attached)
	done
}

same_numbers() {	# of one VM, in the long form and in JSON
	kvmyield status --vm "$a" >/tmp/long
	json '$vm{'"$a"'}{counters}{spins} == '"$(sed -n 's/^spins: *//p' /tmp/long)"' &&
		$vm{'"$a"'}{counters}{seen}{kernel} == '"$(awk '/^kernel / {print $2}' /tmp/long)"' &&
		$vm{'"$a"'}{counters}{chosen}{kernel} == '"$(awk '/^kernel / {print $5}' /tmp/long)" \
		status || { cat /tmp/long; return 1; }
}

nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }

# vms CODE: a process, $vms_pid, in which $vm->() makes a VM and $vcpu->(VM) a vCPU for
# it; CODE calls $ready->() when it has made them.
vms() {
	rm -f /tmp/ready
	mkfifo /tmp/ready
	perl -Mthreads -MPOSIX -e '
		my $ready = sub { open(my $f, ">", "/tmp/ready"); print $f "$$\n"; close($f) };
		my $vm = sub {
			open(my $kvm, "+<", "/dev/kvm") or die;
			my $fd = ioctl($kvm, 0xae01, 0) or die "no VM: $!";	# KVM_CREATE_VM
			return $fd + 0;
		};
		my $vcpu = sub { open(my $v, "+<&=", shift) or die; ioctl($v, 0xae41, 0) or die; $v };
		'"$1"';
		sleep(1000) while 1' &
	read -r -t 30 vms_pid <>/tmp/ready || { diag "no VM: $1"; vms_pid=$!; }
}

gone() {	# gone PID: wait until it has ended
	kill -9 "$1"
	wait "$1" 2>/dev/null
	return 0
}

test-lockwork 4 100000000 >/dev/null &
a=$!
test-lockwork 3 100000000 >/dev/null &
b=$!

ok "without a policy the VMs are known, and have no counts" json \
	'!defined $c && $vm{'"$a"'}{nr_vcpus} == 4 && $vm{'"$b"'}{nr_vcpus} == 3 && !defined $vm{'"$a"'}{counters}' status
ok "status --vm: nothing is loaded" fails 3 "$a (test-lockwork)" kvmyield status --vm $a
ok "load" kvmyield load yield_policy
ok "both guests spin" spinning
ok "while they do, no account is impossible" json \
	'$c->{spins} >= sum0 map { $_->{counters}{spins} } values %vm' status
ok "they stop" frozen
ok "the counts of the VMs add up to the policy's, also those of each fact" json 'adds_up()' status
ok "and not because nothing was counted" json \
	'$c->{yields} > 100 && $c->{seen}{kernel} > 100 && $c->{chosen}{kernel} > 100 && $c->{seen}{spinning} > 100' status
ok "nor for one VM only" json 'all { $_->{counters}{yields} > 10 } @vm{'"$a, $b"'}' status
ok "what cannot be is not" json 'sane($c) && all { sane($_->{counters}) } values %vm' status
ok "a VM that does not spin has counts of 0" json \
	'$vm{'"$KVMYIELD_VM_HOLDER"'}{counters}{spins} == 0' status
ok "status shows a table of facts" sh -c "kvmyield status | grep -Eq '^kernel +[1-9][0-9]* +[0-9.]+ % +[1-9]'"
ok "and one of VMs" sh -c "kvmyield status | grep -Eq '^ +$a test-lockwork +4 +0 +[1-9]'"
ok "status --vm has the same numbers" same_numbers
ok "and is of that VM alone" json 'join(",", keys %vm) eq '"$b" status --vm $b

ok "replace" kvmyield replace random
ok "all counts begin at 0" json \
	'$c->{spins} == 0 && all { my $v = $_->{counters}; all { $_ == 0 } @$v{@counts}, values %{$v->{seen}} } values %vm' status
kill -CONT $a $b
ok "and go on" spinning
frozen
ok "they add up again" json 'adds_up() && sane($c) && $c->{yields} > 100' status

ok "features: facts of the host" json \
	'fact($_, "kernel") eq "ok" && fact($_, "hint") eq "partly" && fact($_, "apicv_interrupt") eq "missing"' \
	kvmyield -j features
ok "features --vm: of a VM" json \
	'my $v = $vm{'"$a"'}; $v->{nr_hinted} == 0 && fact($v, "hint") eq "missing" && fact($v, "ipi") eq "ok"' \
	kvmyield -j features --vm $a
ok "and why it has no hint" sh -c "kvmyield features --vm $a | grep -A1 '^  hint .*0 of its 4 vCPUs' | grep -q 'kvm_preempt_count'"
ok "a process without a VM" fails 1 "the process $$ has no VM" kvmyield status --vm $$
ok "is told which have one" fails 1 "$a (test-lockwork), " kvmyield features --vm $$
ok "as nobody" fails 2 "root" nobody kvmyield status --vm $a

gone $b
ok "a VM that has ended is not there" json '!exists $vm{'"$b"'} && exists $vm{'"$a"'}' status
ok "what was done to it stays in the policy's account" json \
	'$c->{spins} > sum0 map { $_->{counters}{spins} } values %vm' status
ok "status --vm of a dead process" fails 1 "there is no process $b" kvmyield status --vm $b

# VMs of other kinds.
vms 'my @v = ($vcpu->($vm->())); $ready->()'
ok "a VM whose APIC user space emulates has no IPIs" json \
	'my $v = $vm{'"$vms_pid"'}; $v->{user_apic} && fact($v, "ipi") eq "missing" && fact($v, "interrupt") eq "partly"' \
	kvmyield -j features --vm "$vms_pid"
ok "the host says so too" json 'fact($_, "ipi") eq "partly"' kvmyield -j features
gone "$vms_pid"
vms 'my @v = map { $vm->() } 1..2; $ready->()'
ok "a process with two VMs" json '@{$_->{vms}} == 2' status --vm "$vms_pid"
gone "$vms_pid"
vms 'threads->create(sub { my $v = $vm->(); $ready->(); sleep(1000) while 1 })'
ok "a VM made by a thread is its process's" json \
	'exists $vm{'"$vms_pid"'}' status --vm "$vms_pid"
gone "$vms_pid"

each_once() {	# while others come and go
	local i
	for i in 1 2 3 4 5 6 7 8 9 10; do
		json '$_->{vms_complete} && 2 == grep { $_->{pid} == '"$a"' || $_->{pid} == '"$KVMYIELD_VM_HOLDER"' } @{$_->{vms}}' \
			status || { echo "look $i"; return 1; }
	done
}
vms '$ready->(); while (1) { my @v = map { $vm->() } 1..3; POSIX::close($_) for @v }'
ok "while VMs come and go, each of the others is there once" each_once
gone "$vms_pid"
# More than there is room for at first.
vms '$vm->() for 1..230; $ready->()'
ok "many VMs: each is there" json \
	'$_->{vms_complete} && 230 == grep { $_->{pid} == '"$vms_pid"' } @{$_->{vms}}' status
ok "of which status shows the first" sh -c "kvmyield status | grep -q 'and [0-9]* more VMs'"
ok "and with -v all" is "$(kvmyield status -v | grep -c perl)" 231
ok "unload" kvmyield unload
finish
