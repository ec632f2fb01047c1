// SPDX-License-Identifier: GPL-2.0
/* kvmyield -j stats */
#include "stats.h"

static json_t *number(__u64 value)
{
	/* jansson has no unsigned numbers; nobody has counted so far. */
	return value > INT64_MAX ? json_real((double)value) :
				   json_integer((json_int_t)value);
}

static json_t *buckets_json(const struct kstat *k)
{
	json_t *array = json_array();
	unsigned int i;
	bool open;
	__u64 end;

	for (i = 0; i < k->size; i++) {
		end = kstat_bucket_end(k, i, &open);
		json_array_append_new(array, json_pack("{s:o,s:o}",
			"below", open ? json_null() : number(end),
			"count", number(k->value[i])));
	}

	return array;
}

static json_t *values_json(const struct kstat *k)
{
	json_t *array = json_array();
	unsigned int i;

	for (i = 0; i < k->size; i++)
		json_array_append_new(array, number(k->value[i]));

	return array;
}

static json_t *kstat_json(const struct kstat *k, const struct kstat *then,
			  double seconds)
{
	json_t *object = json_object();
	char unit[64];

	json_object_set_new(object, "type", json_string(kstat_type_text(k)));
	json_object_set_new(object, "unit",
			    json_text(kstat_unit_text(k, unit, sizeof(unit))));
	if (kstat_is_hist(k))
		json_object_set_new(object, "buckets", buckets_json(k));
	else if (k->size > 1)
		json_object_set_new(object, "values", values_json(k));
	else
		json_object_set_new(object, "value", number(k->value[0]));
	if (then && k->type == KSTAT_CUMULATIVE && kstat_same_kind(k, then) &&
	    k->value[0] >= then->value[0])
		json_object_set_new(object, "per_second",
			json_real((k->value[0] - then->value[0]) / seconds));

	return object;
}

static json_t *kstats_json(const struct kstats *s, const struct kstats *before,
			   double seconds)
{
	json_t *object = json_object();
	size_t i;

	for (i = 0; i < s->n; i++)
		json_object_set_new(object, s->stat[i].name,
			kstat_json(&s->stat[i], before ?
				   kstats_find(before, s->stat[i].name, i) : NULL,
				   seconds));

	return object;
}

static json_t *optional(const char *text)
{
	return text ? json_text(text) : json_null();
}

/**
 * vmm_json - the statistics of a process's VMs and vCPUs
 * @vmm: the process
 * @policy: who decides for its vCPUs, or NULL
 * @before: the same a while ago, for rates; or NULL
 * @out: receives them
 *
 * Return: an exit status
 */
int vmm_json(const struct vmm *vmm, const char *policy,
	     const struct vmm *before, json_t *out)
{
	json_t *vms = json_array(), *vcpus = json_array();
	double seconds = before ? vmm->time - before->time : 0;
	size_t i;

	for (i = 0; i < vmm->nr_vms; i++)
		json_array_append_new(vms, json_pack("{s:o,s:o}",
			"id", json_text(vmm->vm[i].id), "stats",
			kstats_json(&vmm->vm[i], before && seconds > 0 &&
				    i < before->nr_vms ? &before->vm[i] : NULL,
				    seconds)));
	for (i = 0; i < vmm->nr_vcpus; i++)
		json_array_append_new(vcpus, json_pack("{s:i,s:o,s:o}",
			"vcpu", vmm->vcpu_id[i], "id", json_text(vmm->vcpu[i].id),
			"stats",
			kstats_json(&vmm->vcpu[i], before && seconds > 0 &&
				    i < before->nr_vcpus ? &before->vcpu[i] : NULL,
				    seconds)));
	json_object_set_new(out, "pid", json_integer(vmm->pid));
	json_object_set_new(out, "name", json_text(vmm->name));
	json_object_set_new(out, "policy", optional(policy));
	json_object_set_new(out, "seconds",
			    before ? json_real(seconds) : json_null());
	json_object_set_new(out, "vms", vms);
	json_object_set_new(out, "vcpus", vcpus);

	return DONE;
}

int vmms_json(const struct vmms *all, const char *policy, json_t *out)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < all->n; i++)
		json_array_append_new(array, json_pack("{s:i,s:o,s:i,s:i}",
			"pid", all->vmm[i].pid,
			"name", json_text(all->vmm[i].name),
			"nr_vms", (int)all->vmm[i].nr_vms,
			"nr_vcpus", (int)all->vmm[i].nr_vcpus));
	json_object_set_new(out, "policy", optional(policy));
	json_object_set_new(out, "processes", array);
	json_object_set_new(out, "complete", json_boolean(!all->unseen));

	return DONE;
}
