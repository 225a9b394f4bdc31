//! Defines the comma-separated lines of the MSR Cambridge traces.
//!
//! Source: the `README.txt` of the traces (SNIA IOTTA repository, trace set 388; Narayanan,
//! Donnelly and Rowstron 2008, "Write off-loading", FAST). A line has seven fields:
//!
//! ```text
//! Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime
//! 128166372003061629,usr,0,Read,7014609920,24576,41286
//! ```
//!
//! `Timestamp` is when the request was issued, in ticks of 100 ns since 1601 (Windows file time);
//! `ResponseTime` is in the same ticks; `Type` is `Read` or `Write`; `Offset` and `Size` are in
//! bytes. A drive is `Hostname,DiskNumber`. The published files have no header line, but copies
//! may; it is skipped.

use crate::error::TraceFault;
use crate::event::TraceStep;
use crate::field::multiple;
use crate::lines::TraceLine;
use crate::{Flags, Request, RequestKind};

/// The unit of both times.
const TICK_NS: u64 = 100;

/// The beginning of a header line.
const TITLES: &[u8] = b"Timestamp,";

/// Whether the first line of a trace is of this format.
pub fn looks_like(first_bytes: &[u8]) -> bool {
    let line = first_bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = line.trim_ascii_end();
    line.split(|byte| *byte == b',').count() == 7 && reported(line).is_ok()
}

/// The request of a line, with times since 1601.
pub fn reported(line: &[u8]) -> Result<Option<TraceLine<'_>>, TraceFault> {
    if line.is_empty() || line.starts_with(TITLES) {
        return Ok(None);
    }
    let mut fields = line.split(|byte| *byte == b',');
    let timestamp = fields.clone().next().unwrap_or_default();
    let ticks = "a number of 100 ns ticks";
    let submitted_ns = multiple("the timestamp", ticks, TICK_NS, &mut fields)?;
    let (Some(host), Some(disk), Some(kind)) = (fields.next(), fields.next(), fields.next()) else {
        return Err(TraceFault::new("the line", "seven comma-separated fields", line));
    };
    let before_drive = timestamp.len() + 1;
    let after_drive = before_drive + host.len() + 1 + disk.len();
    let drive = line.get(before_drive..after_drive).unwrap_or_default();

    let kind = match kind {
        b"Read" => RequestKind::Read,
        b"Write" => RequestKind::Write,
        _ => return Err(TraceFault::new("the type", "Read or Write", kind)),
    };
    let bytes = "a number of bytes";
    let offset_bytes = multiple("the offset", bytes, 1, &mut fields)?;
    let length_bytes = multiple("the size", bytes, 1, &mut fields)?;
    let response_ns = multiple("the response time", ticks, TICK_NS, &mut fields)?;
    if fields.next().is_some() {
        return Err(TraceFault::new("the line", "seven fields", line));
    }
    let request = Request {
        submitted_ns,
        completed_ns: Some(submitted_ns.saturating_add(response_ns)),
        kind,
        offset_bytes,
        length_bytes,
        flags: Flags::empty(),
        origin: None,
    };
    Ok(Some(TraceLine { drive, step: TraceStep::Submitted(None), request }))
}
