/* SPDX-License-Identifier: GPL-2.0 */
/* Per-CPU memory of a machine with one CPU. */
#ifndef __SHIM_LINUX_PERCPU_H
#define __SHIM_LINUX_PERCPU_H

#include <stdlib.h>

#define alloc_percpu_gfp(type, gfp) ((type *)calloc(1, sizeof(type)))
#define free_percpu(ptr) free(ptr)
#define per_cpu_ptr(ptr, cpu) ((ptr) + (cpu))
#define this_cpu_inc(var) ((var)++)
#define for_each_possible_cpu(cpu) for ((cpu) = 0; (cpu) < 1; (cpu)++)

#endif
