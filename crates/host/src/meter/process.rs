//! Resources used by the workload's own thread and the programs it ran: processor time, bytes
//! written.
//!
//! Source: proc(5).

use std::io;

use crate::thread::{self, Usage};
use procfs::process::Process;
use procfs::ticks_per_second;

/// The resources used so far by the calling thread, plus the processor time, at tick resolution, of
/// the children that this process has reaped.
pub fn read() -> io::Result<Usage> {
    let own = thread::used();
    let stat = Process::myself().and_then(|me| me.stat()).map_err(io::Error::other)?;
    let ticks = stat.cutime.max(0).cast_unsigned() + stat.cstime.max(0).cast_unsigned();
    let children_ns = ticks * 1_000_000_000 / ticks_per_second();
    Ok(Usage { cpu_ns: own.cpu_ns + children_ns, ..own })
}
