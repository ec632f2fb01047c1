/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KVMYIELD_TESTS_FACTS_H
#define KVMYIELD_TESTS_FACTS_H

#define FACTS_MAX	64

/* What a policy was told of one candidate, over all looks. */
struct told {
	unsigned int		looks;
	unsigned int		any;	/* facts that were ever true */
	unsigned int		all;	/* facts that were always true */
	unsigned long long	first_wait_ns;
	unsigned long long	last_wait_ns;
};

#endif
