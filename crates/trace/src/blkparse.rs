//! Defines the text that blkparse(1) prints by default.
//!
//! Source: blkparse(1), section "Output description and formatting", and the program's output. An
//! event is a line:
//!
//! ```text
//!   8,0    1       12     0.000123456  4162  D  WS 2048 + 8 [kworker/0:1H]
//! device cpu sequence            time   pid  |   | sector + sectors [process]
//!                                       action   RWBS
//! ```
//!
//! Sectors are of 512 bytes, and the time is in seconds. RWBS is `F` if the request carries a
//! flush; then `R`, `W`, `D` (discard) or `N` (none of them), where `WZ` is write-zeroes; then
//! flags: `F` (FUA), `A` (read-ahead), `S` (sync), `M` (metadata) and others that do not matter
//! here.
//!
//! `Q` queues a request and `D` issues it; `C` completes it or its first part, and `R` returns it
//! from the driver. Those of a flush have a sector at most. Lines of other actions, and lines that
//! do not begin with a device (such as the summary at the end), are skipped. Otherwise the rules of
//! the [binary format](super::blktrace) apply, from which blkparse makes this. A command that
//! bypasses the block layer has a length and no `+`.

use memchr::memchr;

use crate::error::TraceFault;
use crate::event::TraceStep;
use crate::field::{SECTOR_BYTES, device, multiple, number, seconds, words};
use crate::lines::TraceLine;
use crate::request::operation;
use crate::{Flags, Request, RequestKind, TraceStage};

/// Whether a trace with this beginning has a line that is a blkparse event.
pub fn looks_like(first_bytes: &[u8]) -> bool {
    first_bytes.split(|byte| *byte == b'\n').any(|line| {
        let mut words = words(line);
        words.next().is_some_and(|word| device(word).is_some())
            && words.by_ref().take(2).filter(|word| number(word).is_some()).count() == 2
            && words.next().is_some_and(|word| time_ns(word).is_some())
    })
}

/// The request of a line, if the line is about one.
pub fn reported(line: &[u8]) -> Result<Option<TraceLine<'_>>, TraceFault> {
    let mut words = words(line);
    let Some(drive) = words.next().filter(|word| device(word).is_some()) else {
        return Ok(None);
    };
    let time = words.nth(2).unwrap_or_default();
    let step = match words.nth(1) {
        Some(b"D") => TraceStep::Submitted(Some(TraceStage::Issued)),
        Some(b"Q") => TraceStep::Submitted(Some(TraceStage::Queued)),
        Some(b"C") => TraceStep::Completed,
        Some(b"R") => TraceStep::Returned,
        Some(_) => return Ok(None),
        None => return Err(TraceFault::new("the line", "an event of seven fields or more", line)),
    };
    let submitted_ns = time_ns(time)
        .ok_or_else(|| TraceFault::new("the time", "seconds with nine decimal places", time))?;
    let rwbs = words.next().unwrap_or_default();
    let (operation, mut flags) = operation(rwbs);

    let sector = words.next().unwrap_or_default();
    // A command that bypasses the block layer has a length here, and its bytes.
    let is_bare = sector.starts_with(b"[") || sector.starts_with(b"(");
    let has_length = !is_bare && words.next() == Some(b"+");
    let (kind, offset_bytes, length_bytes) = if has_length {
        let expected = "a number of 512-byte sectors";
        let offset_bytes =
            multiple("the sector", expected, SECTOR_BYTES, &mut [sector].into_iter())?;
        let length_bytes = multiple("the length", expected, SECTOR_BYTES, &mut words)?;
        let kind = operation
            .ok_or_else(|| TraceFault::new("the operation", "R, W, WZ or D, with flags", rwbs))?;
        (kind, offset_bytes, length_bytes)
    } else if is_bare || !matches!(step, TraceStep::Submitted(_)) {
        if !flags.contains(Flags::PREFLUSH) {
            return Ok(None);
        }
        flags.remove(Flags::PREFLUSH);
        (RequestKind::Flush, 0, 0)
    } else {
        return Ok(None);
    };
    let request = Request {
        submitted_ns,
        completed_ns: None,
        kind,
        offset_bytes,
        length_bytes,
        flags,
        origin: None,
    };
    Ok(Some(TraceLine { drive, step, request }))
}

/// A time in seconds with nine decimal places, as nanoseconds.
fn time_ns(word: &[u8]) -> Option<u64> {
    let point = memchr(b'.', word)?;
    seconds(word).filter(|_| word.len() == point + 10)
}
