#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What a policy is told of each vCPU is true.
# lab: --timeout 120
exec test-facts
