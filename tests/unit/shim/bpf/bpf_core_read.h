/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __SHIM_BPF_CORE_READ_H
#define __SHIM_BPF_CORE_READ_H

/* The layout is known when this is compiled; there is nothing to relocate. */
#define BPF_CORE_READ(ptr, member) ((ptr)->member)

#endif
