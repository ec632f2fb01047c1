/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KVMYIELD_TESTS_TRACER_H
#define KVMYIELD_TESTS_TRACER_H

#define TRACE_MAX	16384
#define TRACE_SPIN	-1	/* as a tid: the spinner arrived */

struct tracer_event {
	int	tid;
	int	ret;
};

#endif
