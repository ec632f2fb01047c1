// SPDX-License-Identifier: GPL-2.0
/*
 * The BPF side of the yield hook: the struct_ops type kvm_yield_ops, what the
 * verifier lets its programs do, and the kfunc that reports the state.
 */
#include <linux/bpf.h>
#include <linux/bpf_verifier.h>
#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/ctype.h>
#include <linux/jump_label_ratelimit.h>
#include <linux/kvm_host.h>
#include <linux/module.h>
#include <linux/workqueue.h>

#include "yield.h"

BTF_ID_LIST_SINGLE(kvm_yield_candidate_ids, struct, kvm_yield_candidate)

/*
 * The verifier looks these types up by name: the pointers named in them are
 * trusted, as the vCPUs live as long as the VM that the spinner keeps alive.
 */
struct kvm_yield_spin__safe_trusted {
	struct kvm_vcpu *vcpu;
};

struct kvm_yield_candidate__safe_trusted {
	struct kvm_vcpu *vcpu;
};

/* A policy may write one member of one argument. */
static int kvm_yield_btf_struct_access(struct bpf_verifier_log *log,
				       const struct bpf_reg_state *reg,
				       int off, int size)
{
	const struct btf_type *t = btf_type_by_id(reg->btf, reg->btf_id);

	if (reg->btf_id != kvm_yield_candidate_ids[0] || !t ||
	    t->size != sizeof(struct kvm_yield_candidate) ||
	    off != offsetof(struct kvm_yield_candidate, dy_eligible) ||
	    size != sizeof_field(struct kvm_yield_candidate, dy_eligible)) {
		bpf_log(log, "a yield policy may write kvm_yield_candidate.dy_eligible only\n");
		return -EACCES;
	}

	return 0;
}

static bool kvm_yield_is_valid_access(int off, int size,
				      enum bpf_access_type type,
				      const struct bpf_prog *prog,
				      struct bpf_insn_access_aux *info)
{
	if (off < 0 || off >= sizeof(__u64) * MAX_BPF_FUNC_ARGS ||
	    off % size || type != BPF_READ)
		return false;

	return btf_ctx_access(off, size, type, prog, info);
}

static const struct bpf_verifier_ops kvm_yield_verifier_ops = {
	.get_func_proto		= bpf_base_func_proto,
	.is_valid_access	= kvm_yield_is_valid_access,
	.btf_struct_access	= kvm_yield_btf_struct_access,
};

static int kvm_yield_ops_init(struct btf *btf)
{
	return 0;
}

static int kvm_yield_check_member(const struct btf_type *t,
				  const struct btf_member *member,
				  const struct bpf_prog *prog)
{
	return prog->sleepable ? -EINVAL : 0;
}

/* The name goes into logs and tables: let it be plain. */
static int kvm_yield_copy_name(char *dst, const char *src)
{
	int len = strnlen(src, KVM_YIELD_NAME_LEN);
	int i;

	if (!len || len == KVM_YIELD_NAME_LEN)
		return -EINVAL;
	for (i = 0; i < len; i++) {
		if (!isascii(src[i]) ||
		    (!isalnum(src[i]) && !strchr("_.-", src[i])))
			return -EINVAL;
	}
	memcpy(dst, src, len);

	return 0;
}

static int kvm_yield_init_member(const struct btf_type *t,
				 const struct btf_member *member,
				 void *kdata, const void *udata)
{
	const struct kvm_yield_ops *uops = udata;
	struct kvm_yield_ops *kops = kdata;
	int ret;

	switch (__btf_member_bit_offset(t, member) / 8) {
	case offsetof(struct kvm_yield_ops, vm_pid):
		if (uops->vm_pid)
			return uops->vm_pid < 0 ? -EINVAL : -EOPNOTSUPP;
		return 1;
	case offsetof(struct kvm_yield_ops, name):
		ret = kvm_yield_copy_name(kops->name, uops->name);
		return ret ?: 1;
	}

	return 0;
}

static int kvm_yield_validate(void *kdata)
{
	const struct kvm_yield_ops *ops = kdata;

	return ops->rank ? 0 : -EINVAL;
}

static int kvm_yield_reg(void *kdata, struct bpf_link *link)
{
	/* Without a link there is nothing to pin, to update or to eject. */
	if (!link)
		return -EOPNOTSUPP;

	return kvm_yield_attach(kdata, link);
}

static void kvm_yield_unreg(void *kdata, struct bpf_link *link)
{
	kvm_yield_detach(link);
}

static int kvm_yield_update(void *kdata, void *old_kdata, struct bpf_link *link)
{
	return kvm_yield_replace(kdata, link);
}

static s32 kvm_yield_ops__rank(const struct kvm_yield_spin *spin,
			       struct kvm_yield_candidate *cand)
{
	return KVM_YIELD_REFUSE;
}

static void kvm_yield_ops__yielded(const struct kvm_yield_spin *spin,
				   const struct kvm_yield_candidate *cand,
				   int ret)
{
}

static struct kvm_yield_ops kvm_yield_cfi_stubs = {
	.rank		= kvm_yield_ops__rank,
	.yielded	= kvm_yield_ops__yielded,
};

static struct bpf_struct_ops kvm_yield_struct_ops = {
	.verifier_ops	= &kvm_yield_verifier_ops,
	.init		= kvm_yield_ops_init,
	.check_member	= kvm_yield_check_member,
	.init_member	= kvm_yield_init_member,
	.validate	= kvm_yield_validate,
	.reg		= kvm_yield_reg,
	.unreg		= kvm_yield_unreg,
	.update		= kvm_yield_update,
	.cfi_stubs	= &kvm_yield_cfi_stubs,
	.name		= "kvm_yield_ops",
	.owner		= THIS_MODULE,
};

__bpf_kfunc_start_defs();

/**
 * bpf_kvm_yield_status - tell which yield policy is attached and what it did
 * @status: receives the first @status__sz bytes of the report
 * @status__sz: size of the caller's buffer in bytes
 *
 * Context: BPF programs of type syscall; may sleep.
 * Return: the size of the whole report in bytes, or -EINVAL for no buffer.
 */
__bpf_kfunc int bpf_kvm_yield_status(struct kvm_yield_status *status,
				     u32 status__sz)
{
	struct kvm_yield_status now;

	if (!status__sz)
		return -EINVAL;

	kvm_yield_read_status(&now);
	memset(status, 0, status__sz);
	memcpy(status, &now, min_t(u32, status__sz, sizeof(now)));

	return sizeof(now);
}

/**
 * bpf_kvm_yield_vms - tell what the attached policy has done to each VM
 * @vms: receives as many whole &struct kvm_yield_vm_status as fit
 * @vms__sz: size of the caller's buffer in bytes
 * @skip: how many VMs to pass over first
 *
 * Context: BPF programs of type syscall; may sleep.
 * Return: how many VMs there are, or -EINVAL for a buffer too small for one.
 */
__bpf_kfunc int bpf_kvm_yield_vms(struct kvm_yield_vm_status *vms, u32 vms__sz,
				  u32 skip)
{
	if (vms__sz < sizeof(*vms))
		return -EINVAL;

	memset(vms, 0, vms__sz);

	return kvm_yield_read_vms(vms, vms__sz / sizeof(*vms), skip);
}

__bpf_kfunc_end_defs();

BTF_KFUNCS_START(kvm_yield_kfunc_ids)
BTF_ID_FLAGS(func, bpf_kvm_yield_status, KF_SLEEPABLE)
BTF_ID_FLAGS(func, bpf_kvm_yield_vms, KF_SLEEPABLE)
BTF_KFUNCS_END(kvm_yield_kfunc_ids)

static const struct btf_kfunc_id_set kvm_yield_kfunc_set = {
	.owner	= THIS_MODULE,
	.set	= &kvm_yield_kfunc_ids,
};

u32 kvm_yield_link_id(const struct bpf_link *link)
{
	return link->id;
}

struct bpf_link *kvm_yield_link_get(struct bpf_link *link)
{
	link = bpf_link_inc_not_zero(link);

	return IS_ERR(link) ? NULL : link;
}

/*
 * The link is detached, rather than the policy forgotten, so that whoever holds
 * the link hears of it.
 */
static void kvm_yield_eject_fn(struct work_struct *work)
{
	struct bpf_link *link = kvm_yield_ejected_link();

	if (!link)
		return;

	link->ops->detach(link);
	bpf_link_put(link);
}

static DECLARE_WORK(kvm_yield_eject_work, kvm_yield_eject_fn);

/**
 * kvm_yield_bpf_eject - detach the policy that is marked as ejected, soon
 *
 * Context: any; detaching sleeps, and is done by a worker.
 */
void kvm_yield_bpf_eject(void)
{
	schedule_work(&kvm_yield_eject_work);
}

/**
 * kvm_yield_bpf_init - make policies loadable
 *
 * KVM works without them: a kernel without the BTF of its modules gets a line
 * in the log and no hook.
 *
 * Context: process context, may sleep.
 * Return: 0, or the error of the BTF registration.
 */
int kvm_yield_bpf_init(void)
{
	int ret;

	BTF_TYPE_EMIT(struct kvm_yield_spin__safe_trusted);
	BTF_TYPE_EMIT(struct kvm_yield_candidate__safe_trusted);
	BTF_TYPE_EMIT_ENUM(KVM_YIELD_TAKE);
	BTF_TYPE_EMIT_ENUM(KVM_YIELD_PREEMPTED);
	BTF_TYPE_EMIT_ENUM(KVM_YIELD_EXIT_NONE);
	BTF_TYPE_EMIT_ENUM(KVM_YIELD_VM_ENCRYPTED);

	ret = register_btf_kfunc_id_set(BPF_PROG_TYPE_SYSCALL,
					&kvm_yield_kfunc_set);
	if (!ret)
		ret = register_bpf_struct_ops(&kvm_yield_struct_ops,
					      kvm_yield_ops);
	if (ret)
		pr_warn("kvm: no yield policies, BTF registration failed: %d\n",
			ret);

	return ret;
}

/**
 * kvm_yield_bpf_exit - wait for what may still be returning from this module
 *
 * Context: process context, may sleep. No policy is attached: it holds KVM.
 */
void kvm_yield_bpf_exit(void)
{
	cancel_work_sync(&kvm_yield_eject_work);
	static_key_deferred_flush(&kvm_yield_enabled);
	/* Policies are released from RCU callbacks in this module. */
	rcu_barrier();
}
