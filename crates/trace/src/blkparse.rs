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
//! Lines of other actions, and lines that do not begin with a device (such as the summary at the
//! end), are skipped. Otherwise the rules of the [binary format](super::blktrace) apply, from which
//! blkparse makes this. A command that bypasses the block layer has a length and no `+`.

use memchr::memchr;

use crate::error::Fault;
use crate::field::{SECTOR_BYTES, multiple, number, words};
use crate::lines::Reported;
use crate::rwbs::operation;
use crate::{Flags, Kind, Request, Stage};

/// Whether a trace with this beginning has a line that is a blkparse event.
pub fn looks_like(first_bytes: &[u8]) -> bool {
    first_bytes.split(|byte| *byte == b'\n').any(|line| {
        let mut words = words(line);
        words.next().is_some_and(is_device)
            && words.by_ref().take(2).filter(|word| number(word).is_some()).count() == 2
            && words.next().is_some_and(|word| time_ns(word).is_some())
    })
}

/// The request of a line, if it queues or issues one.
pub fn reported(line: &[u8]) -> Result<Option<Reported<'_>>, Fault> {
    let mut words = words(line);
    let Some(drive) = words.next().filter(|word| is_device(word)) else {
        return Ok(None);
    };
    let time = words.nth(2).unwrap_or_default();
    let stage = match words.nth(1) {
        Some(b"D") => Stage::Issued,
        Some(b"Q") => Stage::Queued,
        Some(_) => return Ok(None),
        None => return Err(Fault::new("the line", "an event of seven fields or more", line)),
    };
    let submitted_ns = time_ns(time)
        .ok_or_else(|| Fault::new("the time", "seconds with nine decimal places", time))?;
    let rwbs = words.next().unwrap_or_default();
    let (operation, mut flags) = operation(rwbs);

    let sector = words.next().unwrap_or_default();
    let (kind, offset_bytes, length_bytes) = if let Some(b'[' | b'(') = sector.first() {
        if !flags.contains(Flags::PREFLUSH) {
            return Ok(None);
        }
        flags.remove(Flags::PREFLUSH);
        (Kind::Flush, 0, 0)
    } else {
        let expected = "a number of 512-byte sectors";
        let offset_bytes =
            multiple("the sector", expected, SECTOR_BYTES, &mut [sector].into_iter())?;
        if words.next() != Some(b"+") {
            return Ok(None);
        }
        let length_bytes = multiple("the length", expected, SECTOR_BYTES, &mut words)?;
        let kind = operation
            .ok_or_else(|| Fault::new("the operation", "R, W, WZ or D, with flags", rwbs))?;
        (kind, offset_bytes, length_bytes)
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
    Ok(Some(Reported { drive, stage: Some(stage), request }))
}

/// Whether a word is a device, `major,minor`.
fn is_device(word: &[u8]) -> bool {
    memchr(b',', word)
        .is_some_and(|comma| number(&word[..comma]).and(number(&word[comma + 1..])).is_some())
}

/// A time in seconds with nine decimal places, as nanoseconds.
fn time_ns(word: &[u8]) -> Option<u64> {
    let point = memchr(b'.', word)?;
    let (seconds, decimals) = (&word[..point], &word[point + 1..]);
    let nanoseconds = number(decimals).filter(|_| decimals.len() == 9)?;
    number(seconds)?.checked_mul(1_000_000_000)?.checked_add(nanoseconds)
}
