// SPDX-License-Identifier: GPL-2.0
/*
 * ssdlab: determinism of the lab kernel (User-Mode Linux, x86_64).
 *
 * The host's randomness enters UML through os_getrandom() alone; the lab kernel answers it
 * from a generator seeded by "ssdlab.seed=N". The kernel's input pool is frozen (nothing is
 * ever mixed into it), so that neither the timing of interrupts nor the command line, which
 * holds paths of the host, reaches /dev/urandom. The numbers of the root filesystem's inodes are
 * not the host's either.
 */
#include <linux/cache.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/printk.h>
#include <linux/string.h>
#include <linux/types.h>
#include <kern.h>
#include <os.h>
#include <shared/init.h>
#include <ssdlab.h>

#ifndef CONFIG_X86_64
#error "the lab kernel is 64-bit only"
#endif

#define SSDLAB_DEFAULT_SEED	0x5353446c61620001ULL

static u64 ssdlab_seed __ro_after_init = SSDLAB_DEFAULT_SEED;
static u64 ssdlab_state = SSDLAB_DEFAULT_SEED;

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

/*
 * FNV-1a of a path below the root filesystem's own: the same wherever the host has that.
 * No number is 0, which would mean none.
 */
unsigned long ssdlab_number(const char *path, const char *root)
{
	u64 number = 0xcbf29ce484222325ULL;

	while (*root && *path == *root) {
		path++;
		root++;
	}
	/* The root itself, if it is a link: what it leads to is another place in each run. */
	if (*root)
		path = "";
	while (*path)
		number = (number ^ (u8)*path++) * 0x100000001b3ULL;
	return number | 1;
}

/*
 * Read by UML's own parser, before the kernel proper runs, because the seed is wanted first
 * thing in setup_arch(). A bad value refuses to boot: a lab that runs with another seed than
 * asked for is worse than none. "*add" is left alone, so that /proc/cmdline shows it.
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

static int __init ssdlab_report(void)
{
	pr_info("ssdlab: seed %#llx\n", ssdlab_seed);
	return 0;
}
late_initcall(ssdlab_report);
