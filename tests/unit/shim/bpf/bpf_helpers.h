/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __SHIM_BPF_HELPERS_H
#define __SHIM_BPF_HELPERS_H

/* Natively a program is a function, and sections are the linker's own affair. */
#define SEC(name)

u32 bpf_get_prandom_u32(void);

#endif
