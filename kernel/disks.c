// SPDX-License-Identifier: GPL-2.0
/*
 * ssdlab: the interrupts of the lab kernel's disks.
 *
 * A guest that waits is told by one message when it runs on, and which disks have returned
 * requests (see "What a request costs" in README.md). Without that UML learns of the latter by a
 * signal, a message on a socket of the disk, and two questions for the time.
 */
#include <linux/bitops.h>
#include <linux/bug.h>
#include <linux/irq.h>
#include <linux/kernel.h>
#include <linux/time-internal.h>
#include <ssdlab.h>

/* As many as the host serves at most. */
#define DISKS	8

static struct disk {
	struct time_travel_event event;
	int irq;
	unsigned long long *rings;
} disks[DISKS];

static void interrupt(struct time_travel_event *event)
{
	generic_handle_irq(container_of(event, struct disk, event)->irq);
}

void ssdlab_disk(unsigned int disk, int irq, unsigned long long *rings)
{
	BUG_ON(disk >= DISKS);
	time_travel_set_event_fn(&disks[disk].event, interrupt);
	disks[disk].irq = irq;
	disks[disk].rings = rings;
}

void ssdlab_called(unsigned int called)
{
	unsigned long set = called;
	unsigned int disk;

	for_each_set_bit(disk, &set, DISKS) {
		/* A disk has one ring. */
		*disks[disk].rings |= 1;
		time_travel_add_event_rel(&disks[disk].event, 0);
	}
}
