//! The machine's memory.

use procfs::Current;

/// The memory available without swapping, in bytes, from the kernel.
#[must_use]
pub fn available_bytes() -> u64 {
    let info = procfs::Meminfo::current().ok();
    info.and_then(|info| info.mem_available).unwrap_or(1 << 30)
}
