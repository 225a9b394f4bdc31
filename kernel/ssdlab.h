/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ssdlab: what the lab kernel's own files offer to the rest of it.
 * Included by kernel and by host-side (os-Linux) files of UML: basic types only.
 */
#ifndef __UM_SSDLAB_H
#define __UM_SSDLAB_H

/* Stands in for the host's getrandom(): a stream that depends on ssdlab.seed only. */
extern long ssdlab_getrandom(void *buf, unsigned long len);

/* The number of an inode of the root filesystem, whose own path on the host is root. */
extern unsigned long ssdlab_number(const char *path, const char *root);

/*
 * The file for the guest's memory, which the host has opened (SSDLAB_MEMORY is its number): a
 * descriptor of it, or -1 if there is none.
 */
extern int ssdlab_memory(void);

/* The status with which a guest ends that reboots. */
#define SSDLAB_REBOOTED 3

struct iovec;

/*
 * Gets and sets the extended registers of a program, of which UML keeps a part. Between the two
 * they are the program's still, unless UML has its process run something else.
 */
extern long ssdlab_get_xstate(int pid, struct iovec *to);
extern long ssdlab_set_xstate(int pid, const struct iovec *of);
extern void ssdlab_forget_xstate(void);

/* Bytes that real processors move, digest or encrypt by special instructions, by kind. */
enum ssdlab_transform {
	SSDLAB_CRC32, SSDLAB_XXHASH, SSDLAB_SHA256, SSDLAB_BLAKE2, SSDLAB_AES, SSDLAB_TRANSFORMS
};
extern unsigned long ssdlab_copied;
extern unsigned long ssdlab_transformed[SSDLAB_TRANSFORMS];

struct pt_regs;

/* A system call has returned: time passes for it and for all that was computed before. */
extern void ssdlab_charge_call(struct pt_regs *regs, int nr, unsigned long ret);

/*
 * Makes several system calls of a program; no number of Linux's. Returns the index of the first that
 * was not made in full.
 */
#define SSDLAB_CALLS 0x5ab0
extern long ssdlab_calls(struct pt_regs *regs);

/* A request is about to be submitted: time passes for what led to it. */
extern void ssdlab_charge_request(void);

/* The processor is about to sleep: whether time passed for what was computed before. */
extern _Bool ssdlab_charge_idle(void);

/* Another task takes over, an interrupt begins or ends: who computed what is settled. */
extern void ssdlab_switch(void);
extern void ssdlab_interrupt_begins(void);
extern void ssdlab_interrupt_ends(void);

/* Between the two the lab works for itself, which takes no time. */
extern void ssdlab_own_work_begins(void);
extern void ssdlab_own_work_ends(void);

/* The clock was read, which takes UML some time. */
extern void ssdlab_clock_read(unsigned long long ns);

/* Virtual time in ns, and whether an interrupt waits to be let in (both in kernel/time.c). */
extern unsigned long long ssdlab_now(void);
extern _Bool ssdlab_interrupt_waits(void);

/*
 * The disk has requests in its ring: the host serves them, and says until when the guest is free
 * to run (in kernel/time.c). The message is none of enum um_timetravel_ops; its sequence number is
 * the disk's.
 */
#define SSDLAB_KICK 0x100
extern void ssdlab_kick(unsigned int disk);

/* A disk's interrupt, and its driver's set of rings with news. */
extern void ssdlab_disk(unsigned int disk, int irq, unsigned long long *rings);

/* The disks of this set, a bit each, have returned requests. */
extern void ssdlab_called(unsigned int disks);

struct request;

/* Whose bytes a request of the drive carries; stands in for its priority. */
extern unsigned int ssdlab_origin(struct request *rq);

#endif
