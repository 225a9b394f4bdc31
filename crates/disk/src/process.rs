//! The process of a guest on this machine, and how long the guest may be silent.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::Child;
use std::time::Duration;

use procfs::process::{Stat, all_processes};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// How often a silent guest is looked at within its timeout.
const POLLS: u32 = 10;

/// How many times its timeout a guest may be silent in real time.
const SLOWNESS: u32 = 10;

/// A guest's process, which leads the group of all its processes.
#[derive(Debug)]
pub struct GuestProcess {
    ended: OwnedFd,
    group: Pid,
    timeout: Duration,
}

impl GuestProcess {
    /// The guest may compute for `timeout` without sending a message: in processor time, because
    /// this machine may do other work, but no longer than ten times that in real time. The guest's
    /// own time does not pass while it computes.
    pub fn new(leader: &Child, timeout: Duration) -> io::Result<Self> {
        let group = Pid::from_child(leader);
        Ok(Self { ended: pidfd_open(group, PidfdFlags::empty())?, group, timeout })
    }

    /// How long a silent guest is waited for between two looks.
    pub(super) fn interval(&self) -> Duration {
        self.timeout / POLLS
    }

    pub(super) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// What the group has used, to a tick: some 10 ms.
    fn processor_time(&self) -> Duration {
        let is_own = |stat: &Stat| stat.pgrp == self.group.as_raw_pid();
        // Processes end meanwhile. Their time is then their parent's.
        let stats =
            all_processes().into_iter().flatten().flatten().filter_map(|one| one.stat().ok());
        let ticks = |stat: Stat| {
            let waited_for = u64::try_from(stat.cutime + stat.cstime).unwrap_or_default();
            stat.utime + stat.stime + waited_for
        };
        let ticks: u64 = stats.filter(is_own).map(ticks).sum();
        Duration::from_millis(ticks * 1000 / procfs::ticks_per_second())
    }
}

/// Becomes readable when the process has ended, like any pidfd.
impl AsFd for GuestProcess {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ended.as_fd()
    }
}

/// A guest that is silent, looked at in intervals.
#[derive(Debug, Default)]
pub struct SilenceTimer {
    looks: u32,
    /// What had been used at the first look.
    first: Option<Duration>,
}

impl SilenceTimer {
    /// Looks at it, after an interval, and tells whether it has been silent for too long.
    pub fn is_too_long(&mut self, process: &GuestProcess) -> bool {
        let used = process.processor_time();
        let first = *self.first.get_or_insert(used);
        self.looks += 1;
        // It may have computed for all of the first interval.
        let used = used.saturating_sub(first) + process.interval();
        self.looks >= POLLS * SLOWNESS || used >= process.timeout
    }
}

#[cfg(test)]
mod tests;
