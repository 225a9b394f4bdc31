/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ssdlab: the lab kernel as a process of the host. Included once, by os-Linux/util.c.
 */
#ifndef __UM_SSDLAB_HOST_H
#define __UM_SSDLAB_HOST_H

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <unistd.h>
#include <ssdlab.h>

/*
 * Two properties a process has from its exec on, so start again with them:
 *
 * - No address-space randomisation, or addresses would differ from run to run.
 * - No rseq(2) area. The C library registers one since glibc 2.35, the processes UML
 *   makes for the guest's programs inherit it, and the host kills those with SIGSEGV
 *   once UML has replaced their memory.
 */
static void __attribute__((constructor)) ssdlab_settle(int argc, char **argv, char **envp)
{
	static const char no_rseq[] = "glibc.pthread.rseq=0";
	const char *tunables = getenv("GLIBC_TUNABLES");
	int persona = personality(0xffffffff);
	int again = 0;

	(void)argc;
	(void)envp;
	if (getenv("SSDLAB_SETTLED")) {
		unsetenv("SSDLAB_SETTLED");
		if (persona == -1 || !(persona & ADDR_NO_RANDOMIZE))
			fprintf(stderr, "ssdlab: address-space randomisation is on: runs may differ\n");
		return;
	}
	if (persona != -1 && !(persona & ADDR_NO_RANDOMIZE)) {
		if (personality(persona | ADDR_NO_RANDOMIZE) == -1)
			fprintf(stderr, "ssdlab: address-space randomisation cannot be turned off (%s): runs may differ\n",
				strerror(errno));
		else
			again = 1;
	}
	if (!tunables || !strstr(tunables, no_rseq)) {
		char all[512];
		int n = snprintf(all, sizeof(all), "%s%s%s", tunables ? tunables : "",
				 tunables && *tunables ? ":" : "", no_rseq);

		setenv("GLIBC_TUNABLES", n > 0 && n < (int)sizeof(all) ? all : no_rseq, 1);
		again = 1;
	}
	if (!again)
		return;
	setenv("SSDLAB_SETTLED", "1", 1);
	execv("/proc/self/exe", argv);
	fprintf(stderr, "ssdlab: /proc/self/exe: %s\n", strerror(errno));
	unsetenv("SSDLAB_SETTLED");
}

/* A kernel that may write to no folder of the host (Landlock) could make no file itself. */
int ssdlab_memory(void)
{
	const char *number = getenv("SSDLAB_MEMORY");

	return number ? dup(atoi(number)) : -1;
}

/*
 * The extended registers (XSAVE) of the program that ran last, as they were when it stopped. UML
 * sets all of a program's registers before each run; the host takes longer for these than for all
 * others, and few system calls change them.
 */
static struct {
	int pid;
	struct iovec has;
} stopped;

/* All that the host may have of these registers, and more. */
#define SSDLAB_XSTATE_BYTES (1 << 16)

/* Not the guest's memory, the size of which must not depend on the host. */
static void *ssdlab_room_for_xstate(void)
{
	void *room = mmap(NULL, SSDLAB_XSTATE_BYTES, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return room == MAP_FAILED ? NULL : room;
}

/* memcpy() is the kernel's, which counts. */
static void ssdlab_copy(void *to, const void *from, unsigned long size)
{
	__asm__ volatile("rep movsb" : "+S"(from), "+D"(to), "+c"(size) : : "memory");
}

long ssdlab_get_xstate(int pid, struct iovec *to)
{
	if (ptrace(PTRACE_GETREGSET, pid, NT_X86_XSTATE, to) == -1)
		return -1;
	if (!stopped.has.iov_base)
		stopped.has.iov_base = ssdlab_room_for_xstate();
	if (!stopped.has.iov_base)
		return 0;
	stopped.pid = pid;
	stopped.has.iov_len = to->iov_len;
	ssdlab_copy(stopped.has.iov_base, to->iov_base, to->iov_len);
	return 0;
}

void ssdlab_forget_xstate(void)
{
	stopped.pid = 0;
}

static int ssdlab_has_xstate(int pid, const struct iovec *of)
{
	const unsigned long *words = of->iov_base, *has = stopped.has.iov_base;
	unsigned long i, count = stopped.has.iov_len / sizeof(*words);

	if (pid != stopped.pid)
		return 0;
	for (i = 0; i < count && words[i] == has[i]; i++)
		;
	return i == count;
}

/*
 * UML keeps the first 2696 bytes of a program's extended registers: all up to AVX-512.
 * The host takes all that its processor has or none (EFAULT), with AMX 11008 bytes. A program
 * has to ask for AMX (arch_prctl(2)), which fails through UML, so what UML does not keep is as
 * it was initialised. "of" is what UML keeps; returns 0, or -1 and errno.
 */
long ssdlab_set_xstate(int pid, const struct iovec *of)
{
	static struct iovec all;
	struct iovec given;

	if (ssdlab_has_xstate(pid, of))
		return 0;
	ssdlab_forget_xstate();
	if (!all.iov_base) {
		struct iovec had = { ssdlab_room_for_xstate(), SSDLAB_XSTATE_BYTES };

		if (!had.iov_base ||
		    ptrace(PTRACE_GETREGSET, pid, NT_X86_XSTATE, &had) == -1)
			return -1;
		all = had;
	}
	ssdlab_copy(all.iov_base, of->iov_base,
		    of->iov_len < all.iov_len ? of->iov_len : all.iov_len);
	given = all;
	return ptrace(PTRACE_SETREGSET, pid, NT_X86_XSTATE, &given);
}

#endif
