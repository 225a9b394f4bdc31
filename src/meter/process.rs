//! What the workload's own thread and the programs it ran used: processor time, bytes written.
//!
//! Source: proc(5).

use std::io;

use procfs::process::Process;
use procfs::ticks_per_second;

use crate::host::thread::{self, Usage};

/// What the calling thread has used up to one moment, and in processor time, to the kernel's tick,
/// the children that this process has waited for.
pub fn read() -> io::Result<Usage> {
    let own = thread::used();
    let stat = Process::myself().and_then(|me| me.stat()).map_err(io::Error::other)?;
    let ticks = stat.cutime.max(0).cast_unsigned() + stat.cstime.max(0).cast_unsigned();
    let children_ns = ticks * 1_000_000_000 / ticks_per_second();
    Ok(Usage { cpu_ns: own.cpu_ns + children_ns, ..own })
}
