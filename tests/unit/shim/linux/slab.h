/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __SHIM_LINUX_SLAB_H
#define __SHIM_LINUX_SLAB_H

#include <stdlib.h>

#define kzalloc(size, gfp) calloc(1, size)
#define kfree(ptr) free(ptr)

#endif
