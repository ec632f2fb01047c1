#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# On Debian's own KVM the loader says what is missing, and touches nothing.
# lab: --stock --single --timeout 100
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh

ok "features: not supported" fails 4 "without the hook" kvmyield features
ok "features has a hint" fails 4 "hint: build KVM with the hook" kvmyield features
ok "status" fails 4 "no hook" kvmyield status
for verb in "load builtin" "replace builtin" unload "check builtin"; do
	# shellcheck disable=SC2086 # words
	ok "$verb" fails 4 "no hook" kvmyield $verb
done
ok "list works" kvmyield list
ok "no pin directory was made" is "$(ls -A /sys/fs/bpf)" ""
kill "$KVMYIELD_VM_HOLDER"
sleep 0.3
ok "without KVM" rmmod kvm_amd kvm
ok "status says that KVM is not loaded" fails 4 "KVM is not loaded" kvmyield status
finish
