/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KVMYIELD_TESTS_FACTS_H
#define KVMYIELD_TESTS_FACTS_H

#define FACTS_MAX	256

/* vCPU 1 of the VM in which it spins itself yields to vCPUs 2 and 3 in turns. */
#define FACTS_SPINNING	1

/* What a policy was told of one candidate, last. */
struct told {
	unsigned int		looks;
	unsigned int		facts;
	unsigned int		hint;
	unsigned long long	wait_ns;
};

#endif
