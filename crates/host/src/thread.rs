//! Resources used by the calling thread: processor time, and bytes passed to write(2).
//!
//! Sources: `clock_gettime(2)`, proc(5). `wchar` counts the bytes passed to write(2), whether or
//! not they reach a device.

use std::fs;
use std::ops::AddAssign;

use procfs::FromRead;
use procfs::process::Io;
use rustix::time::{ClockId, clock_gettime};

/// Resources used by threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Processor time in ns, user and system.
    pub cpu_ns: u64,
    /// Bytes passed to write(2); `None` if the kernel does not count them.
    pub wchar_bytes: Option<u64>,
    /// Calls of write(2) and related system calls; `None` likewise.
    pub write_calls: Option<u64>,
}

impl Default for Usage {
    /// No resources used.
    fn default() -> Self {
        Self { cpu_ns: 0, wchar_bytes: Some(0), write_calls: Some(0) }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.cpu_ns += other.cpu_ns;
        let sum = |one: Option<u64>, two: Option<u64>| Some(one? + two?);
        self.wchar_bytes = sum(self.wchar_bytes, other.wchar_bytes);
        self.write_calls = sum(self.write_calls, other.write_calls);
    }
}

/// The resources used by the calling thread since it started.
pub fn used() -> Usage {
    let own = clock_gettime(ClockId::ThreadCPUTime);
    let cpu_ns = own.tv_sec.cast_unsigned() * 1_000_000_000 + own.tv_nsec.cast_unsigned();
    let counted = counted();
    let (wchar_bytes, write_calls) =
        (counted.as_ref().map(|io| io.wchar), counted.as_ref().map(|io| io.syscw));
    Usage { cpu_ns, wchar_bytes, write_calls }
}

fn counted() -> Option<Io> {
    Io::from_read(fs::read("/proc/thread-self/io").ok()?.as_slice()).ok()
}

#[cfg(test)]
mod tests;
