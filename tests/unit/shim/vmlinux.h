/* SPDX-License-Identifier: GPL-2.0 */
/* What a policy finds in the kernel's BTF, from the header that it comes from. */
#ifndef __SHIM_VMLINUX_H
#define __SHIM_VMLINUX_H

#include <linux/kvm_host.h>
#include <linux/kvm_yield.h>

/* A policy's parameter is a constant for the verifier only. */
#define KVMYIELD_PARAM(type, name, value)	volatile type name = value

#endif
