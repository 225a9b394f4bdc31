//! Defines the text of ftrace's block events, as `trace_pipe`, trace-cmd(1) and perf-script(1)
//! print it.
//!
//! Source: `Documentation/trace/ftrace.rst` for the lines, and the `TP_printk` of
//! `include/trace/events/block.h` for the events:
//!
//! ```text
//!    fio-101     [000] .....  1234.567890: block_rq_issue: 8,0 WS 4096 () 2048 + 8 [fio]
//! <idle>-0       [001] d.h1.  1234.568890: block_rq_complete: 8,0 WS () 2048 + 8 [0]
//! ```
//!
//! The time is in seconds; after the event come the device, the letters of the operation, sectors
//! of 512 bytes, and in newer kernels the priority. `block_bio_queue` queues a request and
//! `block_rq_issue` issues it, `block_rq_complete` and `block_bio_complete` complete it, and
//! `block_rq_requeue` returns it. Other lines are skipped. Otherwise the rules of the
//! [ring buffers](crate::ftrace) apply, of which the kernel makes this.

use crate::error::TraceFault;
use crate::event::TraceStep;
use crate::field::{SECTOR_BYTES, device, scaled, seconds, words};
use crate::lines::TraceLine;
use crate::request::operation;
use crate::request::plain;
use crate::{Flags, RequestKind, TraceStage};

/// Whether a trace with this beginning has a line with one of the events.
pub fn looks_like(first_bytes: &[u8]) -> bool {
    first_bytes.split(|byte| *byte == b'\n').any(|line| event(line).is_some())
}

/// What an event's name, with its colon, says of a request.
fn step(name: &[u8]) -> Option<TraceStep> {
    // perf puts the system before it.
    match name.strip_prefix(b"block:").unwrap_or(name) {
        b"block_rq_issue:" => Some(TraceStep::Submitted(Some(TraceStage::Issued))),
        b"block_bio_queue:" => Some(TraceStep::Submitted(Some(TraceStage::Queued))),
        b"block_rq_complete:" | b"block_bio_complete:" => Some(TraceStep::Completed),
        b"block_rq_requeue:" => Some(TraceStep::Returned),
        _ => None,
    }
}

/// The time of a line, its event, and the words after that.
fn event(line: &[u8]) -> Option<(&[u8], TraceStep, impl Iterator<Item = &[u8]>)> {
    let mut words = words(line);
    let mut before = words.next().filter(|word| !word.starts_with(b"#"))?;
    loop {
        let word = words.next()?;
        if let (Some(step), Some(time)) = (step(word), before.strip_suffix(b":")) {
            return Some((time, step, words));
        }
        before = word;
    }
}

/// The request of a line, if the line is about one.
pub fn reported(line: &[u8]) -> Result<Option<TraceLine<'_>>, TraceFault> {
    let Some((time, step, mut words)) = event(line) else {
        return Ok(None);
    };
    let time_ns = seconds(time)
        .ok_or_else(|| TraceFault::new("the time", "seconds with decimal places", time))?;
    let drive = words.next().unwrap_or_default();
    if device(drive).is_none() {
        return Err(TraceFault::new("the device", "major,minor", drive));
    }
    let letters = words.next().unwrap_or_default();
    // Between the letters and the sector of a request are its bytes and its command, if it has one.
    let mut before: &[u8] = &[];
    let (sector, length) = loop {
        match words.next() {
            Some(b"+") => break (before, words.next().unwrap_or_default()),
            Some(word) => before = word,
            None => {
                return Err(TraceFault::new("the line", "sector + sectors after the event", line));
            }
        }
    };
    let sectors = "a number of 512-byte sectors";
    let length_bytes = scaled("the length", sectors, SECTOR_BYTES, length)?;
    if length_bytes == 0 {
        let Some(flags) = flush(letters, step) else { return Ok(None) };
        let mut request = plain(time_ns, RequestKind::Flush, 0, 0);
        request.flags = flags;
        return Ok(Some(TraceLine { drive, step, request }));
    }
    let (kind, flags) = operation(letters);
    let kind = match (kind, letters) {
        (Some(kind), _) => kind,
        // Kernels before 6.18 have no letters for write-zeroes.
        (None, [b'N', ..]) => RequestKind::WriteZeroes,
        (None, _) => {
            let expected = "R, W, WZ, D, N or FF, as of a drive without zones";
            return Err(TraceFault::new("the operation", expected, letters));
        }
    };
    let offset_bytes = scaled("the sector", sectors, SECTOR_BYTES, sector)?;
    let mut request = plain(time_ns, kind, offset_bytes, length_bytes);
    request.flags = flags;
    Ok(Some(TraceLine { drive, step, request }))
}

/// The flags of a flush, if an event without sectors is about one: the drive's is `FF`, and a
/// queued one is an empty write that has the flag.
fn flush(letters: &[u8], step: TraceStep) -> Option<Flags> {
    if let Some(letters) = letters.strip_prefix(b"FF") {
        return Some(operation(letters).1);
    }
    let (kind, mut flags) = operation(letters);
    let is_flush = flags.contains(Flags::PREFLUSH) && kind.is_some();
    flags.remove(Flags::PREFLUSH);
    (is_flush && step != TraceStep::Submitted(Some(TraceStage::Issued))).then_some(flags)
}
