#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The MSR by which a guest shares its hint: values, places, save and restore.
# lab: --timeout 120
exec test-msr
