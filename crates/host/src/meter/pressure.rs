//! How long tasks waited for I/O, and how many pages were changed, of the whole machine.
//!
//! Sources: Documentation/accounting/psi.rst and `vmstat_text` in mm/vmstat.c of the kernel.

use std::fs;

/// How long tasks have waited for I/O since boot, in µs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IoPressure {
    /// Some task did.
    pub some_us: u64,
    /// All tasks that had something to do did.
    pub full_us: u64,
}

/// Reads the pressure; `None` if the kernel does not account for it (`psi=1`).
pub fn io() -> Option<IoPressure> {
    parse_io(&fs::read_to_string("/proc/pressure/io").ok()?)
}

fn parse_io(text: &str) -> Option<IoPressure> {
    let total = |of: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(of))?;
        line.rsplit_once("total=")?.1.trim().parse().ok()
    };
    Some(IoPressure { some_us: total("some ")?, full_us: total("full ")? })
}

/// The bytes in pages that have been changed since boot, of files and of filesystems' own.
pub fn dirtied_bytes() -> Option<u64> {
    let pages = parse_dirtied(&fs::read_to_string("/proc/vmstat").ok()?)?;
    Some(pages * procfs::page_size())
}

fn parse_dirtied(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix("nr_dirtied "))?.trim().parse().ok()
}

#[cfg(test)]
mod tests;
