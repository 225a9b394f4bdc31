//! Defines the table that biosnoop prints, of bcc and of libbpf-tools.
//!
//! Source: `tools/biosnoop.py` and `libbpf-tools/biosnoop.c` of <https://github.com/iovisor/bcc>:
//!
//! ```text
//! TIME(s)     COMM           PID     DISK      T SECTOR     BYTES  LAT(ms)
//! 0.000004    supervise      1950    xvda1     W 13092560   4096      0.74
//! ```
//!
//! `TIME(s)` is when the request was completed, since the first completion; `LAT(ms)` is the time
//! from its issue, so its submission is known as precisely as that is printed. With `-Q`, a column
//! `QUE(ms)` before it is the time in the queue, which does not count here. `T` is `R` or `W`, or
//! of libbpf-tools the letters of the block layer. `SECTOR` is of 512 bytes. A drive is a `DISK`.
//!
//! A request without a disk bypassed the block layer or is a flush, of which bcc says no more; both
//! are skipped, as are lines before the titles.

use crate::error::TraceFault;
use crate::event::TraceStep;
use crate::field::{SECTOR_BYTES, last_word, number, scaled, seconds, words};
use crate::lines::TraceLine;
use crate::request::operation;
use crate::request::plain;
use crate::{Flags, RequestKind};

/// The time of the first completion: later than any latency, so that no submission is before 0.
const FIRST_NS: u64 = 1 << 60;

/// Whether a trace with this beginning has the titles of the table.
pub fn looks_like(first_bytes: &[u8]) -> bool {
    first_bytes.split(|byte| *byte == b'\n').any(|line| columns(line).is_some())
}

/// The number of columns after `BYTES`, if a line has the titles.
fn columns(line: &[u8]) -> Option<usize> {
    let mut titles = words(line);
    let known: [&[u8]; 7] = [b"TIME(s)", b"COMM", b"PID", b"DISK", b"T", b"SECTOR", b"BYTES"];
    let is_known = known.into_iter().all(|title| titles.next() == Some(title));
    let rest: Vec<&[u8]> = titles.collect();
    (is_known && rest.last() == Some(&&b"LAT(ms)"[..])).then_some(rest.len())
}

/// The columns of the table, once its titles were read.
#[derive(Debug, Default)]
pub struct Columns {
    after_bytes: Option<usize>,
}

impl Columns {
    /// The request of a line.
    pub fn reported<'a>(&mut self, line: &'a [u8]) -> Result<Option<TraceLine<'a>>, TraceFault> {
        if let Some(after_bytes) = columns(line) {
            self.after_bytes = Some(after_bytes);
            return Ok(None);
        }
        match self.after_bytes {
            Some(after_bytes) if !line.trim_ascii().is_empty() => reported(line, after_bytes),
            _ => Ok(None),
        }
    }
}

fn reported(line: &[u8], after_bytes: usize) -> Result<Option<TraceLine<'_>>, TraceFault> {
    let (mut before, latency) = last_word(line);
    for _ in 1..after_bytes {
        before = last_word(before).0;
    }
    let (before, bytes) = last_word(before);
    let (before, sector) = last_word(before);
    let (before, letters) = last_word(before);
    let (before, drive) = last_word(before);
    let Some(time) = words(before).next() else {
        return Err(TraceFault::new("the line", "the columns of the titles", line));
    };
    let time_ns = seconds(time)
        .ok_or_else(|| TraceFault::new("the time", "seconds with decimal places", time))?;
    // Without a disk, the PID comes before the letters.
    if number(drive).is_some() {
        return Ok(None);
    }
    let (kind, flags) = operation(letters);
    let length_bytes = scaled("the number of bytes", "a number", 1, bytes)?;
    let (kind, flags, offset_bytes) = match (length_bytes, kind) {
        (0, _) if flags.contains(Flags::PREFLUSH) => (RequestKind::Flush, Flags::empty(), 0),
        (0, _) => return Ok(None),
        (_, Some(kind)) => {
            let sectors = "a number of 512-byte sectors";
            (kind, flags, scaled("the sector", sectors, SECTOR_BYTES, sector)?)
        }
        (_, None) => return Err(TraceFault::new("the type", "R, W or D, with flags", letters)),
    };
    let milliseconds = "milliseconds with decimal places";
    let latency_ns = seconds(latency)
        .map(|found| found / 1_000)
        .ok_or_else(|| TraceFault::new("the latency", milliseconds, latency))?;
    let completed_ns = FIRST_NS.saturating_add(time_ns);
    let submitted_ns = completed_ns
        .checked_sub(latency_ns)
        .ok_or_else(|| TraceFault::new("the latency", "less than a year", latency))?;
    let mut request = plain(submitted_ns, kind, offset_bytes, length_bytes);
    request.completed_ns = Some(completed_ns);
    request.flags = flags;
    Ok(Some(TraceLine { drive, step: TraceStep::Submitted(None), request }))
}
