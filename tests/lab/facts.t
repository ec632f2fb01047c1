#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What a policy is told of each vCPU is true.
# lab: --timeout 240
# It refuses everybody all the time.
echo 0 >/sys/module/kvm/parameters/yield_refusal_budget
exec test-facts "$@"
