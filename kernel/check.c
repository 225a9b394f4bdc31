// SPDX-License-Identifier: GPL-2.0
/*
 * The init of `check`: prints what has to be equal over runs and measures what the
 * system calls cost in virtual time. Static; run by the lab kernel as process 1.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum { N = 1000, CLOCK = 256 }; /* UML's clock has this grain, and a reading costs one */

static int bad;
static long long meta, io, kib, other;
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

static void end(const char *what, long long calls, long long expected)
{
	long long took = now() - begun - CLOCK;
	long long d = took - expected;
	int ok = d > -CLOCK && d < CLOCK;

	printf("%-28s %6lld calls %12lld ns, expected %12lld %s\n", what, calls, took, expected,
	       ok ? "ok" : "WRONG");
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
	if (!cpu || sscanf(cpu, "%lld,%lld,%lld,%lld", &meta, &io, &kib, &other) != 4)
		meta = io = kib = other = 0;

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
	end("getppid", N, N * other);

	/* path strings are made before: a page fault or a libc call costs nothing anyway */
	begin();
	for (int i = 0; i < N; i++) {
		sprintf(path, "/tmp/f%d", i);
		fds[i] = open(path, O_CREAT | O_WRONLY, 0644);
	}
	end("open O_CREAT", N, N * meta);
	for (int i = 0; i < N; i++)
		if (fds[i] < 0)
			bad = 1;
	long long written = 0, asked[] = { 1, 100, 1024, 4096, 5000, 65536 };
	for (unsigned k = 0; k < sizeof asked / sizeof *asked; k++) {
		begin();
		for (int i = 0; i < 100; i++)
			written += pwrite(fds[i], data, asked[k], 0);
		sprintf(path, "pwrite %lld bytes", asked[k]);
		end(path, 100, 100 * (io + asked[k] * kib / 1024));
	}
	begin();
	for (int i = 0; i < N; i++)
		close(fds[i]);
	end("close", N, N * other);

	/* a read charges what it moved, not what was asked for */
	f = open("/tmp/f0", O_RDONLY);
	begin();
	ssize_t n = read(f, data, sizeof data);
	end("read 1 MiB at 64 KiB left", 1, io + n * kib / 1024);
	begin();
	n = read(f, data, sizeof data);
	end("read at the end", 1, io);
	close(f);

	begin();
	for (int i = 0; i < N; i++) {
		sprintf(path, "/tmp/f%d", i);
		unlink(path);
	}
	end("unlink", N, N * meta);
	begin();
	for (int i = 0; i < N; i++) {
		sprintf(path, "/tmp/d%d", i);
		mkdir(path, 0755);
	}
	end("mkdir", N, N * meta);
	begin();
	for (int i = 0; i < N; i++) {
		sprintf(path, "/tmp/d%d", i);
		chmod(path, 0700);
		rmdir(path);
	}
	end("chmod, rmdir", 2 * N, 2 * N * meta);
	begin();
	unlink("/tmp/none"); /* UML itself adds a microsecond to a call that fails */
	end("unlink of nothing", 1, other + 1000);

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
