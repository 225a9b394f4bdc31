// SPDX-License-Identifier: GPL-2.0
/*
 * ssdlab: the lab kernel's processor.
 *
 * In the time-travel modes a guest computes in no time. The lab kernel counts what it
 * executes instead, and lets virtual time pass for it: so many picoseconds for each basic
 * block, and so many nanoseconds for each KiB that a real kernel copies, digests or encrypts by
 * special instructions. What is UML's own is not counted (see "uncounted" in apply), and neither is this
 * file: the charge does not charge itself.
 *
 * Time passes when a system call returns, before a request is submitted, and before the
 * processor sleeps; what kernel threads and interrupts have computed is paid there, too.
 *
 * /proc/ssdlab/processor says who has computed for how long, /proc/ssdlab/functions how many
 * blocks of which function were executed.
 */
#include <linux/hardirq.h>
#include <linux/init.h>
#include <linux/irqflags.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/printk.h>
#include <linux/proc_fs.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/sched/stat.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/time-internal.h>
#include <asm/unistd.h>
#include <kern.h>
#include <os.h>
#include <shared/init.h>
#include <ssdlab.h>

#ifndef CONFIG_UML_TIME_TRAVEL_SUPPORT
#error "the lab kernel needs CONFIG_UML_TIME_TRAVEL_SUPPORT"
#endif

/* ---- counting ---- */

/*
 * Counting is much of what a guest's kernel takes in real time, so it is two instructions in place
 * (see "as"): one adds to the total, in one of several lanes, because adding to what was just stored
 * waits for the store; the other counts the block itself.
 */
#define LANES		16

unsigned long ssdlab_lanes[LANES];
static unsigned long uncounted;

/* The linker's: the counts, what they are kept in while they are read, and whose they are. */
extern u64 __start_ssdlab_counts[], __stop_ssdlab_counts[], __start_ssdlab_kept[];
extern s32 __start_ssdlab_places[];

unsigned long ssdlab_copied;
unsigned long ssdlab_transformed[SSDLAB_TRANSFORMS];

static unsigned long blocks(void)
{
	unsigned long sum = 0;
	int i;

	for (i = 0; i < LANES; i++)
		sum += ssdlab_lanes[i];
	return sum - uncounted;
}

/* ---- accounts ---- */

/* What one block costs in ps, a system call in ns, and a KiB in ns. */
static struct {
	u64 block_ps, call_ns, copy_ns, transform_ns[SSDLAB_TRANSFORMS];
} cost;
static bool is_charged;

/* Nothing is charged before the kernel is up: until then it has to do with its host. */
static bool has_begun;

enum account { PROCESSES, KERNEL_THREADS, INTERRUPTS, IDLING, ACCOUNTS };
static u64 spent_ps[ACCOUNTS];

/* What time has still to pass for; negative where the clock has run ahead. */
static s64 owed_ps;
static s64 clock_ps;
static unsigned int interrupts;
static unsigned long seen_blocks, seen_copied, seen_transformed[SSDLAB_TRANSFORMS];

static enum account account(void)
{
	if (interrupts)
		return INTERRUPTS;
	if (is_idle_task(current))
		return IDLING;
	return current->flags & PF_KTHREAD ? KERNEL_THREADS : PROCESSES;
}

static u64 kib_ps(u64 bytes, u64 ns)
{
	return (bytes * ns * 1000) >> 10;
}

/* Takes what was computed since the last time for seen; returns it in ps. */
static u64 see(void)
{
	unsigned long executed = blocks();
	u64 ps;
	int i;

	ps = (executed - seen_blocks) * cost.block_ps;
	seen_blocks = executed;
	ps += kib_ps(ssdlab_copied - seen_copied, cost.copy_ns);
	seen_copied = ssdlab_copied;
	for (i = 0; i < SSDLAB_TRANSFORMS; i++) {
		ps += kib_ps(ssdlab_transformed[i] - seen_transformed[i], cost.transform_ns[i]);
		seen_transformed[i] = ssdlab_transformed[i];
	}
	return ps;
}

/* Enters what was computed since the last time; returns it in ps. */
static u64 settle(void)
{
	enum account by = account();
	u64 ps = see();

	spent_ps[by] += ps;
	/* Looking for work is not work. */
	if (by != IDLING)
		owed_ps += ps;
	return ps;
}

void ssdlab_switch(void)
{
	settle();
}

void ssdlab_own_work_begins(void)
{
	settle();
}

void ssdlab_own_work_ends(void)
{
	see();
}

void ssdlab_interrupt_begins(void)
{
	settle();
	interrupts++;
}

void ssdlab_interrupt_ends(void)
{
	settle();
	interrupts--;
}

void ssdlab_clock_read(unsigned long long ns)
{
	clock_ps += ns * 1000;
}

/* ---- charging ---- */

/* How long an interrupt may have to wait for a charge to end, in ns. */
#define SLICE_NS	4000ULL

static bool charges(void)
{
	return has_begun && is_charged && (time_travel_mode == TT_MODE_INFCPU ||
			      time_travel_mode == TT_MODE_EXTERNAL);
}

/* Lets time pass for what is owed. Returns whether it did. */
static bool pay(void)
{
	bool passed = false;

	/* What reading the clock took is time that has passed already. */
	owed_ps -= clock_ps;
	clock_ps = 0;
	while (owed_ps >= 1000) {
		u64 ns = min_t(u64, owed_ps / 1000, SLICE_NS);

		owed_ps -= ns * 1000;
		time_travel_ndelay(ns);
		passed = true;
		if (irqs_disabled() && (ssdlab_interrupt_waits() || need_resched()))
			break;
	}
	return passed;
}

/* On hardware the vDSO answers these without entering the kernel. */
static bool is_of_vdso(int nr)
{
	return nr == __NR_clock_gettime || nr == __NR_gettimeofday || nr == __NR_time ||
	       nr == __NR_getcpu;
}

void ssdlab_charge_call(struct pt_regs *regs, int nr, unsigned long ret)
{
	u64 ps = settle();

	if (!charges())
		return;
	if (is_of_vdso(nr)) {
		spent_ps[PROCESSES] -= ps;
		owed_ps -= ps;
		clock_ps = 0;
		return;
	}
	spent_ps[PROCESSES] += cost.call_ns * 1000;
	owed_ps += cost.call_ns * 1000;
	pay();
	/*
	 * Computers have several processors: whom this call has woken would be running by now.
	 * So those who can run take turns, a system call each. Without that a task goes on until
	 * it waits, and one that releases a lock has always taken it again before whoever waits
	 * for it may run.
	 */
	if (!single_task_running())
		yield();
}

void ssdlab_charge_request(void)
{
	settle();
	if (charges() && !in_interrupt() && !irqs_disabled())
		pay();
}

bool ssdlab_charge_idle(void)
{
	settle();
	if (charges() && pay())
		return true;
	/* A clock that has run ahead is caught up with while the processor sleeps. */
	owed_ps = max_t(s64, owed_ps, 0);
	return false;
}

/* The scheduler's clock; without it it would know time to a tick of 10 ms only. */
unsigned long long notrace sched_clock(void)
{
	return ssdlab_now();
}

/* ---- reading ---- */

static int processor_show(struct seq_file *m, void *v)
{
	settle();
	seq_printf(m, "processes %llu ns\n", spent_ps[PROCESSES] / 1000);
	seq_printf(m, "kernel_threads %llu ns\n", spent_ps[KERNEL_THREADS] / 1000);
	seq_printf(m, "interrupts %llu ns\n", spent_ps[INTERRUPTS] / 1000);
	seq_printf(m, "blocks %lu\n", blocks());
	seq_printf(m, "copied %lu bytes\n", ssdlab_copied);
	seq_printf(m, "crc32 %lu bytes\n", ssdlab_transformed[SSDLAB_CRC32]);
	seq_printf(m, "xxhash %lu bytes\n", ssdlab_transformed[SSDLAB_XXHASH]);
	seq_printf(m, "sha256 %lu bytes\n", ssdlab_transformed[SSDLAB_SHA256]);
	seq_printf(m, "blake2 %lu bytes\n", ssdlab_transformed[SSDLAB_BLAKE2]);
	seq_printf(m, "aes %lu bytes\n", ssdlab_transformed[SSDLAB_AES]);
	return 0;
}

/* Lines of functions: a name without the compiler's suffixes, and blocks. Parts have lines of their own. */
static int functions_show(struct seq_file *m, void *v)
{
	size_t i, count = __stop_ssdlab_counts - __start_ssdlab_counts;
	unsigned long before = blocks(), copied = ssdlab_copied, begin = 0, size = 0, offset;
	char name[KSYM_NAME_LEN], *module;
	u64 *counts = __start_ssdlab_kept, sum = 0;

	/* Reading is not counted. */
	memcpy(counts, __start_ssdlab_counts, count * sizeof(*counts));
	for (i = 0; i < count; i++) {
		s32 *place = &__start_ssdlab_places[i];
		unsigned long address = (unsigned long)place + *place;

		if (!counts[i])
			continue;
		if (address - begin >= size) {
			if (sum)
				seq_printf(m, "%.*s %llu\n", (int)strcspn(name, "."), name, sum);
			sum = size = 0;
			if (!kallsyms_lookup(address, &size, &offset, &module, name))
				continue;
			begin = address - offset;
		}
		sum += counts[i];
	}
	if (sum)
		seq_printf(m, "%.*s %llu\n", (int)strcspn(name, "."), name, sum);
	memcpy(__start_ssdlab_counts, counts, count * sizeof(*counts));
	ssdlab_copied = copied;
	uncounted += blocks() - before;
	return 0;
}

static int __init ssdlab_processor_init(void)
{
	struct proc_dir_entry *folder = proc_mkdir("ssdlab", NULL);

	/* What ran before may have been the C library at work on the host's environment. */
	settle();
	memset(spent_ps, 0, sizeof(spent_ps));
	memset(__start_ssdlab_counts, 0, (void *)__stop_ssdlab_counts - (void *)__start_ssdlab_counts);
	owed_ps = clock_ps = 0;
	uncounted += blocks();
	seen_blocks = ssdlab_copied = seen_copied = 0;
	has_begun = true;

	pr_info("ssdlab: block %llu ps, call %llu ns, a KiB copied %llu, crc32 %llu, xxhash %llu, sha256 %llu, blake2 %llu, aes %llu ns\n",
		cost.block_ps, cost.call_ns, cost.copy_ns, cost.transform_ns[SSDLAB_CRC32],
		cost.transform_ns[SSDLAB_XXHASH], cost.transform_ns[SSDLAB_SHA256],
		cost.transform_ns[SSDLAB_BLAKE2], cost.transform_ns[SSDLAB_AES]);
	if (!folder || !proc_create_single("processor", 0444, folder, processor_show) ||
	    !proc_create_single("functions", 0444, folder, functions_show))
		pr_err("ssdlab: /proc/ssdlab cannot be made\n");
	return 0;
}
late_initcall(ssdlab_processor_init);

/* A bad value refuses to boot, like that of ssdlab.seed. */
static int __init ssdlab_cpu_setup(char *str, int *add)
{
	u64 *const to[] = { &cost.block_ps, &cost.call_ns, &cost.copy_ns,
			    &cost.transform_ns[SSDLAB_CRC32], &cost.transform_ns[SSDLAB_XXHASH],
			    &cost.transform_ns[SSDLAB_SHA256], &cost.transform_ns[SSDLAB_BLAKE2],
			    &cost.transform_ns[SSDLAB_AES] };
	char *p = str, *end;
	int i;

	for (i = 0; i < ARRAY_SIZE(to); i++) {
		*to[i] = simple_strtoull(p, &end, 10);
		if (end == p || end - p > 7 || *to[i] > 1000000 ||
		    *end != (i + 1 < ARRAY_SIZE(to) ? ',' : '\0')) {
			os_warn("ssdlab.cpu=%s: not BLOCK,CALL,COPY,CRC32,XXHASH,SHA256,BLAKE2,AES, each at most 1000000\n",
				str);
			exit(2);
		}
		is_charged |= *to[i] != 0;
		p = end + 1;
	}
	return 1;
}

__uml_setup("ssdlab.cpu=", ssdlab_cpu_setup,
"ssdlab.cpu=<BLOCK>,<CALL>,<COPY>,<CRC32>,<XXHASH>,<SHA256>,<BLAKE2>,<AES>\n"
"    What computing costs: virtual picoseconds a basic block, nanoseconds a\n"
"    system call, and nanoseconds a KiB copied or digested. Default: nothing.\n\n"
);
