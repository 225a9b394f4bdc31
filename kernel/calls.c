// SPDX-License-Identifier: GPL-2.0
/*
 * ssdlab: several system calls at once.
 *
 * A system call takes two changes of the host's process, which is most of what a short one takes in
 * real time. So a program may hand over several: they are made one after the other as if it had
 * made each itself, and time passes for each. The program's side is crates/workload/src/calls.rs.
 */
#include <linux/kernel.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <asm/unistd.h>
#include <kern_util.h>
#include <sysdep/ptrace.h>
#if __has_include(<sysdep/syscalls.h>)
#include <sysdep/syscalls.h>
#else /* Linux 7.3 */
#include <asm/syscall.h>
#endif
#include <ssdlab.h>

struct call {
	u64 number;
	u64 arguments[6];
	/* One more than the index of the call whose result is the first argument; 0: none. */
	u64 first_from;
	/* A smaller result ends the series. */
	s64 least;
	s64 result;
};

static long perform(const struct call *call)
{
	typedef long (*function)(long, long, long, long, long, long);
	const u64 *a = call->arguments;

	if (call->number >= __NR_syscalls)
		return -ENOSYS;
	return ((function)sys_call_table[call->number])(a[0], a[1], a[2], a[3], a[4], a[5]);
}

static bool take(struct call *call, struct call __user *calls, unsigned long i)
{
	bool is_taken;

	ssdlab_own_work_begins();
	is_taken = !copy_from_user(call, &calls[i], sizeof(*call));
	if (is_taken && call->first_from)
		is_taken = !copy_from_user(&call->arguments[0], &calls[call->first_from - 1].result,
					   sizeof(call->result));
	ssdlab_own_work_ends();
	return is_taken;
}

static bool tell(const struct call *call, struct call __user *calls, unsigned long i)
{
	bool is_told;

	ssdlab_own_work_begins();
	is_told = !copy_to_user(&calls[i].result, &call->result, sizeof(call->result));
	ssdlab_own_work_ends();
	return is_told;
}

/* Makes the calls from one index to another; returns that of the first that was not made in full. */
long ssdlab_calls(struct pt_regs *regs)
{
	struct call __user *calls = (struct call __user *)UPT_SYSCALL_ARG1(&regs->regs);
	unsigned long i = UPT_SYSCALL_ARG2(&regs->regs), end = UPT_SYSCALL_ARG3(&regs->regs);

	while (i < end) {
		struct call call;

		if (!take(&call, calls, i))
			return -EFAULT;
		call.result = perform(&call);
		if (!tell(&call, calls, i))
			return -EFAULT;
		ssdlab_charge_call(regs, call.number, call.result);
		if (call.result < call.least)
			break;
		/* Signals are delivered where the program has made its call. */
		if (++i == end || signal_pending(current))
			break;
		interrupt_end();
	}
	return i;
}
