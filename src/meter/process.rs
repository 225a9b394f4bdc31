//! What the workload's own thread and the programs it ran used: processor time, bytes written.
//!
//! Sources: proc(5), `clock_gettime(2)`. `wchar` counts the bytes handed to write(2), whatever
//! became of them.

use std::fs;
use std::io;

use procfs::process::{Io, Process};
use procfs::{FromRead, ticks_per_second};
use rustix::time::{ClockId, clock_gettime};

/// What has been used up to one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Processor time in ns, user and system: of this thread exactly, of ended children to the
    /// kernel's tick.
    pub cpu_ns: u64,
    /// Bytes this thread handed to write(2); `None` where the kernel does not count them.
    pub wchar_bytes: Option<u64>,
}

/// Reads the usage of the calling thread and of the children this process has waited for.
pub fn read() -> io::Result<Usage> {
    let own = clock_gettime(ClockId::ThreadCPUTime);
    let own_ns = own.tv_sec.cast_unsigned() * 1_000_000_000 + own.tv_nsec.cast_unsigned();
    let stat = Process::myself().and_then(|me| me.stat()).map_err(io::Error::other)?;
    let ticks = stat.cutime.max(0).cast_unsigned() + stat.cstime.max(0).cast_unsigned();
    Ok(Usage {
        cpu_ns: own_ns + ticks * 1_000_000_000 / ticks_per_second(),
        wchar_bytes: written_by_thread(),
    })
}

fn written_by_thread() -> Option<u64> {
    let text = fs::read("/proc/thread-self/io").ok()?;
    Some(Io::from_read(text.as_slice()).ok()?.wchar)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_write_is_counted_to_the_byte() {
        let mut file = tempfile::tempfile().unwrap();
        let before = read().unwrap().wchar_bytes.unwrap();
        file.write_all(&[7; 12_345]).unwrap();
        assert_eq!(read().unwrap().wchar_bytes.unwrap() - before, 12_345);
    }
}
