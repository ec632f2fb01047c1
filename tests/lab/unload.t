#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# KVM cannot be unloaded under a policy, and can be afterwards.
# lab: --single --timeout 150
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh

kill "$KVMYIELD_VM_HOLDER"
sleep 0.5
loaded() { lsmod | grep -qw "^$1"; }

ok "a policy is loaded" kvmyield load yield_policy
ok "rmmod kvm_amd kvm is refused" fails 1 "in use" rmmod kvm_amd kvm
ok "kvm_amd is still there" loaded kvm_amd
ok "the policy too" kvmyield status
ok "a guest runs under it" test-lockwork 2 500
ok "it is unloaded" kvmyield unload
ok "rmmod kvm_amd kvm works" rmmod kvm_amd kvm
ok "kvm is gone" fails 1 "" loaded kvm
ok "status: not supported, and why" fails 4 "KVM is not loaded" kvmyield status
ok "kvm.ko alone" insmod "$KVMYIELD_MODS/kvm.ko"
ok "load without a vendor module is refused" fails 4 "kvm_amd" kvmyield load builtin
ok "kvm-amd.ko" insmod "$KVMYIELD_MODS/kvm-amd.ko" npt=0
ok "a policy is loaded again" kvmyield load builtin
ok "and decides" test-lockwork 4 1000
ok "it is unloaded" kvmyield unload
for i in 1 2 3; do
	ok "unload and at once rmmod, time $i" sh -c \
		"kvmyield load random && kvmyield unload && rmmod kvm_amd kvm"
	insmod "$KVMYIELD_MODS/kvm.ko" && insmod "$KVMYIELD_MODS/kvm-amd.ko" npt=0
done
finish
