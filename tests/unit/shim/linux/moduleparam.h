/* SPDX-License-Identifier: GPL-2.0 */
#ifndef __SHIM_LINUX_MODULEPARAM_H
#define __SHIM_LINUX_MODULEPARAM_H

#define module_param_named(name, var, type, mode) \
	_Static_assert(sizeof(var), #name)
#define MODULE_PARM_DESC(name, text) _Static_assert(sizeof(text), #name)

#endif
