/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __SHIM_LINUX_MINMAX_H
#define __SHIM_LINUX_MINMAX_H

#include <limits.h>
#include <linux/types.h>

#endif
