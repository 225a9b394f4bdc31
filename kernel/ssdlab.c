// SPDX-License-Identifier: GPL-2.0
/*
 * ssdlab: determinism and CPU-cost model of the lab kernel (User-Mode Linux, x86_64).
 *
 * Determinism. The host's randomness enters UML through os_getrandom() alone; the lab
 * kernel answers it from a generator seeded by "ssdlab.seed=N". The kernel's input pool
 * is frozen (nothing is ever mixed into it), so that neither the timing of interrupts
 * nor the command line, which holds paths of the host, reaches /dev/urandom.
 *
 * CPU model. In the time-travel modes the guest's CPU is infinitely fast. With
 * "ssdlab.cpu=META,IO,IO_PER_KIB,OTHER" (nanoseconds) every system call that has
 * returned advances virtual time by a fixed cost of its kind.
 */
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/openat2.h>
#include <linux/printk.h>
#include <linux/ptrace.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/uaccess.h>
#include <linux/time-internal.h>
#include <asm/unistd.h>
#include <kern.h>
#include <os.h>
#include <shared/init.h>
#include <sysdep/ptrace.h>
#include <ssdlab.h>

#ifndef CONFIG_X86_64
#error "the lab kernel is 64-bit only"
#endif
#ifndef CONFIG_UML_TIME_TRAVEL_SUPPORT
#error "the lab kernel needs CONFIG_UML_TIME_TRAVEL_SUPPORT"
#endif

#define SSDLAB_DEFAULT_SEED	0x5353446c61620001ULL
#define SSDLAB_MAX_COST_NS	1000000000ULL

static u64 ssdlab_seed __ro_after_init = SSDLAB_DEFAULT_SEED;
static u64 ssdlab_state = SSDLAB_DEFAULT_SEED;

/* nanoseconds */
static u64 cost_meta, cost_io, cost_io_per_kib, cost_other;
static bool cost_charged;

/* splitmix64: every value of the seed is a good one. */
static u64 ssdlab_next(void)
{
	u64 z = (ssdlab_state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

long ssdlab_getrandom(void *buf, unsigned long len)
{
	u8 *p = buf;
	unsigned long left = len;

	while (left) {
		u64 v = ssdlab_next();
		unsigned long n = min_t(unsigned long, left, sizeof(v));

		memcpy(p, &v, n);
		p += n;
		left -= n;
	}
	return len;
}

enum ssdlab_kind { SSDLAB_FREE, SSDLAB_META, SSDLAB_IO, SSDLAB_SUBMIT, SSDLAB_OTHER };

static bool creates(unsigned long flags)
{
	return flags & (O_CREAT | O_TRUNC);
}

static enum ssdlab_kind ssdlab_kind(struct uml_pt_regs *r, int nr)
{
	u64 flags;

	switch (nr) {
	/* On hardware the vDSO answers these without entering the kernel. */
	case __NR_clock_gettime:
	case __NR_gettimeofday:
	case __NR_time:
	case __NR_getcpu:
		return SSDLAB_FREE;

	case __NR_open:
		return creates(UPT_SYSCALL_ARG2(r)) ? SSDLAB_META : SSDLAB_OTHER;
	case __NR_openat:
		return creates(UPT_SYSCALL_ARG3(r)) ? SSDLAB_META : SSDLAB_OTHER;
	case __NR_openat2:
		if (get_user(flags, &((struct open_how __user *)UPT_SYSCALL_ARG3(r))->flags))
			return SSDLAB_OTHER;
		return creates(flags) ? SSDLAB_META : SSDLAB_OTHER;

	case __NR_creat:
	case __NR_mkdir:
	case __NR_mkdirat:
	case __NR_rmdir:
	case __NR_mknod:
	case __NR_mknodat:
	case __NR_unlink:
	case __NR_unlinkat:
	case __NR_rename:
	case __NR_renameat:
	case __NR_renameat2:
	case __NR_link:
	case __NR_linkat:
	case __NR_symlink:
	case __NR_symlinkat:
	case __NR_chmod:
	case __NR_fchmod:
	case __NR_fchmodat:
	case __NR_chown:
	case __NR_fchown:
	case __NR_lchown:
	case __NR_fchownat:
	case __NR_utime:
	case __NR_utimes:
	case __NR_futimesat:
	case __NR_utimensat:
	case __NR_truncate:
	case __NR_ftruncate:
	case __NR_fallocate:
	case __NR_setxattr:
	case __NR_lsetxattr:
	case __NR_fsetxattr:
	case __NR_removexattr:
	case __NR_lremovexattr:
	case __NR_fremovexattr:
		return SSDLAB_META;

	/* All of these return the number of bytes moved. */
	case __NR_read:
	case __NR_write:
	case __NR_pread64:
	case __NR_pwrite64:
	case __NR_readv:
	case __NR_writev:
	case __NR_preadv:
	case __NR_pwritev:
	case __NR_preadv2:
	case __NR_pwritev2:
	case __NR_sendfile:
	case __NR_copy_file_range:
	case __NR_splice:
	case __NR_vmsplice:
	case __NR_sendto:
	case __NR_recvfrom:
	case __NR_sendmsg:
	case __NR_recvmsg:
	case __NR_getdents:
	case __NR_getdents64:
		return SSDLAB_IO;

	/* These return the number of requests taken; their bytes are not known here. */
	case __NR_io_submit:
	case __NR_io_uring_enter:
		return SSDLAB_SUBMIT;

	default:
		return SSDLAB_OTHER;
	}
}

static u64 ssdlab_cost(struct uml_pt_regs *r, int nr, unsigned long ret)
{
	enum ssdlab_kind kind = ssdlab_kind(r, nr);

	if (kind == SSDLAB_FREE)
		return 0;
	/* A call that failed changed and moved nothing. */
	if (IS_ERR_VALUE(ret))
		return cost_other;

	switch (kind) {
	case SSDLAB_META:
		return cost_meta;
	case SSDLAB_IO:
		return cost_io + (((u64)ret * cost_io_per_kib) >> 10);
	case SSDLAB_SUBMIT:
		return cost_other + ret * cost_io;
	default:
		return cost_other;
	}
}

void ssdlab_charge(struct pt_regs *regs, int nr, unsigned long ret)
{
	u64 ns;

	if (!cost_charged || (time_travel_mode != TT_MODE_INFCPU &&
			      time_travel_mode != TT_MODE_EXTERNAL))
		return;

	/* Timers and completions that fall due meanwhile are delivered at their time. */
	ns = ssdlab_cost(&regs->regs, nr, ret);
	if (ns)
		time_travel_ndelay(ns);
}

/*
 * Both parameters are read by UML's own parser, before the kernel proper runs, because
 * the seed is wanted first thing in setup_arch(). A bad value refuses to boot: a lab
 * that runs with another model than asked for is worse than none. "*add" is left
 * alone, so that /proc/cmdline shows them.
 */
static int __init ssdlab_seed_setup(char *str, int *add)
{
	if (kstrtou64(str, 0, &ssdlab_seed)) {
		os_warn("ssdlab.seed=%s: not a number of 64 bits\n", str);
		exit(2);
	}
	ssdlab_state = ssdlab_seed;
	return 1;
}

__uml_setup("ssdlab.seed=", ssdlab_seed_setup,
"ssdlab.seed=<number>\n"
"    Seed of all randomness in the guest.\n\n"
);

static int __init ssdlab_cpu_setup(char *str, int *add)
{
	u64 *const cost[] = { &cost_meta, &cost_io, &cost_io_per_kib, &cost_other };
	char *p = str, *end;
	int i;

	for (i = 0; i < ARRAY_SIZE(cost); i++) {
		*cost[i] = simple_strtoull(p, &end, 10);
		if (end == p || end - p > 10 || *cost[i] > SSDLAB_MAX_COST_NS ||
		    *end != (i + 1 < ARRAY_SIZE(cost) ? ',' : '\0')) {
			os_warn("ssdlab.cpu=%s: not META,IO,IO_PER_KIB,OTHER in nanoseconds, each at most %llu\n",
				str, SSDLAB_MAX_COST_NS);
			exit(2);
		}
		p = end + 1;
	}
	cost_charged = cost_meta || cost_io || cost_io_per_kib || cost_other;
	return 1;
}

__uml_setup("ssdlab.cpu=", ssdlab_cpu_setup,
"ssdlab.cpu=<META>,<IO>,<IO_PER_KIB>,<OTHER>\n"
"    Virtual nanoseconds a system call costs: one that changes metadata,\n"
"    one that moves data, each KiB it moved, any other. Default: nothing.\n\n"
);

static int __init ssdlab_report(void)
{
	pr_info("ssdlab: seed %#llx, cpu %llu,%llu,%llu,%llu ns\n", ssdlab_seed,
		cost_meta, cost_io, cost_io_per_kib, cost_other);
	return 0;
}
late_initcall(ssdlab_report);
