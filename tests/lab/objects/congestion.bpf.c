// SPDX-License-Identifier: GPL-2.0
/* A struct_ops of vmlinux, and none of KVM: a TCP congestion control that never grows. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char _license[] SEC("license") = "GPL";

SEC("struct_ops/still_ssthresh")
__u32 BPF_PROG(still_ssthresh, struct sock *sk)
{
	return 2;
}

SEC("struct_ops/still_cong_avoid")
void BPF_PROG(still_cong_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
}

SEC("struct_ops/still_undo_cwnd")
__u32 BPF_PROG(still_undo_cwnd, struct sock *sk)
{
	return 2;
}

/* By an element and not by a link, as all were before there were links. */
SEC(".struct_ops")
struct tcp_congestion_ops still = {
	.ssthresh	= (void *)still_ssthresh,
	.cong_avoid	= (void *)still_cong_avoid,
	.undo_cwnd	= (void *)still_undo_cwnd,
	.name		= "still",
};
