// SPDX-License-Identifier: GPL-2.0
/*
 * For a guest: threads that go through the states which a hint tells apart, and
 * one that spins, so that the host's policy is asked about them.
 *
 * In each state a CPU runs a loop of two instructions and nothing else. A vCPU
 * whose instruction pointer is in one of these loops is in that state, whatever
 * interrupts there are in between: they run elsewhere. Where the loops begin and
 * end is in the parameter "loops".
 */
#include <linux/cpu.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/objtool.h>
#include <linux/percpu.h>
#include <linux/spinlock.h>

static unsigned long turns = 1000000;
module_param(turns, ulong, 0444);

static bool oops;
module_param(oops, bool, 0444);
MODULE_PARM_DESC(oops, "do nothing but crash");

#define LOOP(name)							\
	static noinline void loop_##name(void)				\
	{								\
		unsigned long n = turns;				\
									\
		asm volatile(#name "_begin:\n\t"			\
			     ANNOTATE_NOENDBR				\
			     "dec %0\n\t"				\
			     "jnz " #name "_begin\n"			\
			     #name "_end:\n\t"				\
			     ANNOTATE_NOENDBR				\
			     : "+r" (n) : : "cc", "memory");		\
	}

/* The labels that the loops stand between. */
#define LABELS(name) extern char name##_begin[], name##_end[]
LABELS(free);
LABELS(held);
LABELS(nested);
LABELS(bh);
LABELS(irqs_off);
LABELS(hardirq);
LABELS(softirq);

LOOP(free)
LOOP(held)
LOOP(nested)
LOOP(bh)
LOOP(irqs_off)
LOOP(hardirq)
LOOP(softirq)

/* In the order in which the host's policy has them. */
static unsigned long loops[14];
static int nr_loops = ARRAY_SIZE(loops);
module_param_array(loops, ulong, &nr_loops, 0444);

static struct task_struct *threads[8];

struct state {
	spinlock_t outer;
	spinlock_t inner;
	struct irq_work hardirq;
	struct tasklet_struct softirq;
};

static DEFINE_PER_CPU(struct state, states);

static void in_hardirq_loop(struct irq_work *work)
{
	loop_hardirq();
}

static void in_softirq_loop(struct tasklet_struct *tasklet)
{
	loop_softirq();
}

static int walk(void *data)
{
	struct state *s = data;
	unsigned long flags;

	while (!kthread_should_stop()) {
		loop_free();

		spin_lock(&s->outer);
		loop_held();
		spin_unlock(&s->outer);

		spin_lock(&s->outer);
		spin_lock(&s->inner);
		loop_nested();
		spin_unlock(&s->inner);
		spin_unlock(&s->outer);

		local_bh_disable();
		loop_bh();
		local_bh_enable();

		local_irq_save(flags);
		loop_irqs_off();
		local_irq_restore(flags);

		irq_work_queue(&s->hardirq);
		irq_work_sync(&s->hardirq);

		/* It is served as bottom halves are enabled again. */
		local_bh_disable();
		tasklet_schedule(&s->softirq);
		local_bh_enable();

		cond_resched();
	}
	return 0;
}

static int spin(void *data)
{
	while (!kthread_should_stop()) {
		int i;

		for (i = 0; i < 1000; i++)
			cpu_relax();
		cond_resched();
	}
	return 0;
}

static void stop(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(threads); i++)
		if (threads[i])
			kthread_stop(threads[i]);
}

static int __init hint_states_init(void)
{
	unsigned long all[] = {
		(unsigned long)free_begin, (unsigned long)free_end,
		(unsigned long)held_begin, (unsigned long)held_end,
		(unsigned long)nested_begin, (unsigned long)nested_end,
		(unsigned long)bh_begin, (unsigned long)bh_end,
		(unsigned long)irqs_off_begin, (unsigned long)irqs_off_end,
		(unsigned long)hardirq_begin, (unsigned long)hardirq_end,
		(unsigned long)softirq_begin, (unsigned long)softirq_end,
	};
	unsigned int cpu;

	BUG_ON(oops);
	BUILD_BUG_ON(sizeof(all) != sizeof(loops));
	memcpy(loops, all, sizeof(all));

	for_each_online_cpu(cpu) {
		struct state *s = per_cpu_ptr(&states, cpu);
		struct task_struct *t;

		if (cpu >= ARRAY_SIZE(threads))
			break;
		spin_lock_init(&s->outer);
		spin_lock_init(&s->inner);
		init_irq_work(&s->hardirq, in_hardirq_loop);
		tasklet_setup(&s->softirq, in_softirq_loop);
		t = kthread_create_on_cpu(cpu ? walk : spin, s, cpu,
					  cpu ? "walk/%u" : "spin/%u");
		if (IS_ERR(t)) {
			stop();
			return PTR_ERR(t);
		}
		threads[cpu] = t;
		wake_up_process(t);
	}
	return 0;
}
module_init(hint_states_init);

static void __exit hint_states_exit(void)
{
	stop();
}
module_exit(hint_states_exit);

MODULE_DESCRIPTION("Test: go through the states that a hint tells apart");
MODULE_LICENSE("GPL");
