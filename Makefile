# SPDX-License-Identifier: GPL-2.0
include mk/config.mk
include kernel/kernel.mk
