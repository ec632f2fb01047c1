/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __SHIM_LINUX_MODULE_H
#define __SHIM_LINUX_MODULE_H

#include <linux/types.h>

struct module {
	int	refs;
	bool	going;
};

static inline bool try_module_get(struct module *mod)
{
	if (mod && mod->going)
		return false;
	if (mod)
		mod->refs++;
	return true;
}

static inline void module_put(struct module *mod)
{
	if (mod)
		mod->refs--;
}

#endif
