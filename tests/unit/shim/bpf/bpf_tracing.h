/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __SHIM_BPF_TRACING_H
#define __SHIM_BPF_TRACING_H

/* The arguments come as arguments, and not as an array of words. */
#define BPF_PROG(name, ...) name(__VA_ARGS__)

#endif
