// SPDX-License-Identifier: GPL-2.0
/*
 * The init of `check`: prints what has to be equal over runs and measures what the
 * system calls cost in virtual time. Static; run by the lab kernel as process 1.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { N = 1000, CLOCK = 256 }; /* UML's clock has this grain, and a reading costs one */

static int bad;
static long long block_ps, call, kib;
static char data[1 << 20];

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static long long begun;

static void begin(void)
{
	begun = now();
}

/* What calls took has to be what they cost without blocks, and at most so many blocks each. */
static void end(const char *what, long long calls, long long least, long long blocks)
{
	long long took = now() - begun;
	long long small = calls * kib * 3 / 2; /* structures are zeroed and copied, too */
	long long most = least + calls * blocks * block_ps / 1000 + small + least / 50 + 2 * CLOCK;
	int ok = took > least - 2 * CLOCK && took < most;

	printf("%-28s %6lld calls %12lld ns, expected %lld to %lld %s\n", what, calls, took, least,
	       most, ok ? "ok" : "WRONG");
	bad |= !ok;
}

static void copy_out(const char *path)
{
	char buf[4096];
	int f = open(path, O_RDONLY);
	ssize_t n = f < 0 ? 0 : read(f, buf, sizeof buf);

	printf("%s:\n%.*s\n", path, n > 0 ? (int)n : 0, buf);
	close(f);
}

static void random_bytes(const char *path)
{
	unsigned char b[32];
	int f = open(path, O_RDONLY);
	ssize_t n = read(f, b, sizeof b);

	printf("%s %zd ", path, n);
	for (int i = 0; i < (int)sizeof b; i++)
		printf("%02x", b[i]);
	printf("\n");
	close(f);
}

/* `struct call` of calls.c, and its number in ssdlab.h. */
struct call {
	unsigned long long number, arguments[6], first_from;
	long long least, result;
};
enum { SSDLAB_CALLS = 0x5ab0 };

static long hand_over(struct call *calls, long from, long end)
{
	return syscall(SSDLAB_CALLS, calls, from, end);
}

static long long least_of(long long a, long long b)
{
	return a < b ? a : b;
}

/* Calls that are handed over together do and take what they do and take alone. */
static void together(void)
{
	static struct call calls[N];
	struct call file[] = {
		{ SYS_open, { (unsigned long)"/tmp/together", O_CREAT | O_RDWR, 0644 } },
		{ SYS_write, { 0, (unsigned long)data, 100 }, 1, 100 },
		{ SYS_lseek, { 0, 0, SEEK_CUR }, 1 },
		{ SYS_read, { 0, (unsigned long)data, 1 }, 1, 1 },
		{ SYS_getppid },
	};
	long long alone = LLONG_MAX, took = LLONG_MAX;
	int ok;

	for (int i = 0; i < N; i++)
		calls[i].number = SYS_getppid;
	hand_over(calls, 0, N); /* the pages are there the second time */
	/* An interrupt or a thread of the kernel falls into a part of the rounds. */
	for (int round = 0; round < 5; round++) {
		begin();
		for (int i = 0; i < N; i++)
			syscall(SYS_getppid);
		alone = least_of(alone, now() - begun);
		begin();
		hand_over(calls, 0, N);
		took = least_of(took, now() - begun);
	}
	ok = took > alone - 2 * CLOCK && took < alone + 2 * CLOCK;
	printf("together %lld ns, alone %lld %s\n", took, alone, ok ? "ok" : "WRONG");
	bad |= !ok;

	/* a file that an earlier call opens, and an end where one gives less than it must */
	ok = hand_over(file, 0, 5) == 3 && file[0].result > 2 && file[1].result == 100 &&
	     file[2].result == 100 && file[3].result == 0 && hand_over(file, 4, 5) == 5;
	printf("a series on a file %s\n", ok ? "ok" : "WRONG");
	bad |= !ok;
	close(file[0].result);
	unlink("/tmp/together");
}

/* Whether a vector register keeps its value while others run. */
static int keeps(unsigned char value)
{
	unsigned char in[64], out[64];
	int wide = __builtin_cpu_supports("avx512f");

	memset(in, value, sizeof in);
	for (int i = 0; i < 100; i++) {
		long nr = SYS_sched_yield;

		if (wide)
			asm volatile("vmovdqu64 %2, %%zmm17\n\tsyscall\n\tvmovdqu64 %%zmm17, %0"
				     : "=m"(out), "+a"(nr) : "m"(in) : "rcx", "r11", "memory");
		else
			asm volatile("movdqu %2, %%xmm9\n\tsyscall\n\tmovdqu %%xmm9, %0"
				     : "=m"(out), "+a"(nr) : "m"(in) : "rcx", "r11", "memory", "xmm9");
		if (memcmp(in, out, wide ? 64 : 16))
			return 0;
	}
	return 1;
}

static void registers(void)
{
	int status = 1, ok;
	pid_t child = fork();

	if (!child)
		_exit(!keeps(2));
	ok = keeps(1);
	ok &= waitpid(child, &status, 0) == child && !status;
	printf("registers of two processes %s\n", ok ? "ok" : "WRONG");
	bad |= !ok;
}

int main(void)
{
	struct utsname u;
	char path[64];
	int f, fds[N];
	const char *cpu = getenv("cpu");

	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	mount("proc", "/proc", "proc", 0, "");
	mount("sysfs", "/sys", "sysfs", 0, "");
	if (mount("tmpfs", "/tmp", "tmpfs", 0, ""))
		printf("tmpfs: %s\n", strerror(errno));
	if (!cpu || sscanf(cpu, "%lld,%lld,%lld", &block_ps, &call, &kib) != 3)
		block_ps = call = kib = 0;

	/* nothing of the host but the root, and that is only read */
	if (!mount("none", "/tmp", "hostfs", 0, "/") || errno != EPERM)
		bad |= !!printf("another hostfs: %s\n", strerror(errno));
	if (!mount(NULL, "/", NULL, MS_REMOUNT, NULL) || errno != EROFS)
		bad |= !!printf("a writable root: %s\n", strerror(errno));
	copy_out("/proc/cpuinfo");

	uname(&u);
	printf("uname %s %s %s %s %s\n", u.sysname, u.nodename, u.release, u.version, u.machine);
	const unsigned char *at = (const unsigned char *)getauxval(AT_RANDOM);
	printf("AT_RANDOM ");
	for (int i = 0; at && i < 16; i++)
		printf("%02x", at[i]);
	printf(" stack %p\n", (void *)&u);
	copy_out("/proc/filesystems");
	copy_out("/proc/uptime");
	random_bytes("/dev/urandom");
	random_bytes("/dev/random");
	f = open("/dev/urandom", O_WRONLY); /* what is written must not matter */
	write(f, &f, sizeof f);
	close(f);
	random_bytes("/dev/urandom");
	copy_out("/proc/sys/kernel/random/uuid");
	copy_out("/proc/sys/kernel/random/boot_id");
	fflush(stdout);

	begin();
	for (int i = 0; i < N; i++)
		syscall(SYS_getppid);
	end("getppid", N, N * call, 40);

	begin();
	for (int i = 0; i < N; i++) {
		sprintf(path, "/tmp/f%d", i);
		fds[i] = open(path, O_CREAT | O_WRONLY, 0644);
	}
	end("open O_CREAT", N, N * call, 2000);
	for (int i = 0; i < N; i++)
		if (fds[i] < 0)
			bad = 1;
	/* UML pads paths to a page, which must not be counted */
	begin();
	for (int i = 0; i < N; i++) {
		struct stat st;

		sprintf(path, "/tmp/f%d", i);
		stat(path, &st);
	}
	end("stat", N, N * call, 800);
	/* the second time the pages are there, and nothing is zeroed */
	long long asked[] = { 1024, 4096, 5000, 65536 };
	for (unsigned k = 0; k < sizeof asked / sizeof *asked; k++)
		for (int again = 0; again < 2; again++) {
			begin();
			for (int i = 0; i < 100; i++)
				pwrite(fds[i], data, asked[k], 0);
			sprintf(path, "pwrite %lld bytes", asked[k]);
			if (again)
				end(path, 100, 100 * (call + asked[k] * kib / 1024),
				    500 + asked[k] / 4096 * 400);
		}
	for (int i = 0; i < N; i++)
		close(fds[i]);
	begin();
	for (int i = 0; i < N; i++) {
		sprintf(path, "/tmp/f%d", i);
		unlink(path);
	}
	end("unlink", N, N * call, 3000);
	together();
	/* last: it shares the pages of this process, and sharing has a cost */
	fflush(stdout);
	registers();

	f = open("/proc/ssdlab/functions", O_RDONLY);
	ssize_t n = 0, part;
	while ((part = read(f, data + n, sizeof data - 1 - n)) > 0)
		n += part;
	close(f);
	data[n] = 0;
	/* each of them is in a function of its own in every version */
	if (!strstr(data, "vfs_write ") || !strstr(data, "__schedule ")) {
		printf("functions:\n%.2000s\nWRONG\n", data);
		bad = 1;
	}
	copy_out("/proc/ssdlab/processor");

	/* a sleep is not made longer or shorter by the model */
	struct timespec hour = { 3600, 0 };
	long long t = now();
	nanosleep(&hour, NULL);
	t = now() - t;
	printf("sleep of an hour: %lld ns over\n", t - 3600000000000LL);
	random_bytes("/dev/urandom");
	printf("CHECK %s\n", bad ? "FAILED" : "PASSED");
	fflush(stdout);
	reboot(RB_POWER_OFF);
	return 0;
}
