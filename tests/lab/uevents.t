#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Uevents of VMs: true at each event, also while they are switched on and off.
# lab: --timeout 240
exec test-uevents 2000
