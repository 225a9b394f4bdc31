/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ssdlab: determinism and CPU-cost model of the lab kernel, and what it tells its drive.
 * Included by kernel and by host-side (os-Linux) files of UML: basic types only.
 */
#ifndef __UM_SSDLAB_H
#define __UM_SSDLAB_H

/* Stands in for the host's getrandom(): a stream that depends on ssdlab.seed only. */
extern long ssdlab_getrandom(void *buf, unsigned long len);

struct pt_regs;

/* Charges the virtual CPU cost of a system call that has just returned. */
extern void ssdlab_charge(struct pt_regs *regs, int nr, unsigned long ret);

struct request;

/* Whose bytes a request of the drive carries; stands in for its priority. */
extern unsigned int ssdlab_origin(struct request *rq);

#endif
