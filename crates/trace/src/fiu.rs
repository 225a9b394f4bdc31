//! Defines the lines of the FIU traces.
//!
//! Source: the description of the traces (SNIA IOTTA repository; Koller and Rangaswami 2010, "I/O
//! Deduplication", FAST):
//!
//! ```text
//! [ts in ns] [pid] [process] [lba] [size in 512 Bytes blocks] [Write or Read]
//!     [major device number] [minor device number] [MD5 per 4096 Bytes]
//! 89966846302 4892 syslogd 904265560 8 W 6 0 531e779d5a5ba4ce4ef1d2d1a1ac7ee3
//! ```
//!
//! all on one line. A process may have spaces in its name, so fields are counted from the end; the
//! MD5 may be absent. A drive is `major minor`. Completions are not recorded.

use crate::RequestKind;
use crate::error::TraceFault;
use crate::event::TraceStep;
use crate::field::{SECTOR_BYTES, first_line, last_word, number, scaled, words};
use crate::lines::TraceLine;
use crate::request::plain;

/// Whether the first line of a trace is of this format.
pub fn looks_like(first_bytes: &[u8]) -> bool {
    matches!(reported(first_line(first_bytes)), Ok(Some(_)))
}

/// The request of a line, with times on a clock of the kernel's.
pub fn reported(line: &[u8]) -> Result<Option<TraceLine<'_>>, TraceFault> {
    let line = line.trim_ascii();
    if line.is_empty() {
        return Ok(None);
    }
    let text = match last_word(line) {
        (before, word) if is_md5(word) => before.trim_ascii_end(),
        _ => line,
    };
    let (before, minor) = last_word(text);
    let (before, major) = last_word(before);
    let drive = text.get(before.len()..).unwrap_or_default();
    let (before, kind) = last_word(before);
    let (before, size) = last_word(before);
    let (before, lba) = last_word(before);
    let is_device = number(major).and(number(minor)).is_some();
    if !is_device || words(before).count() < 3 {
        let expected = "time, PID, process, LBA, blocks, W or R, major, minor and MD5";
        return Err(TraceFault::new("the line", expected, line));
    }
    let timestamp = words(before).next().unwrap_or_default();
    let submitted_ns = scaled("the timestamp", "a number of nanoseconds", 1, timestamp)?;
    let blocks = "a number of 512-byte blocks";
    let offset_bytes = scaled("the LBA", blocks, SECTOR_BYTES, lba)?;
    let length_bytes = scaled("the size", blocks, SECTOR_BYTES, size)?;
    let kind = match kind {
        b"R" => RequestKind::Read,
        b"W" => RequestKind::Write,
        _ => return Err(TraceFault::new("the operation", "W or R", kind)),
    };
    let request = plain(submitted_ns, kind, offset_bytes, length_bytes);
    Ok(Some(TraceLine { drive, step: TraceStep::Submitted(None), request }))
}

fn is_md5(word: &[u8]) -> bool {
    word.len() == 32 && word.iter().all(u8::is_ascii_hexdigit)
}
