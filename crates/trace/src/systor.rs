//! Defines the lines of the SYSTOR '17 traces.
//!
//! Source: the `README.txt` of the traces (SNIA IOTTA repository; Lee et al. 2017, "Understanding
//! Storage Traffic Characteristics on Enterprise Virtual Desktop Infrastructure", SYSTOR):
//!
//! ```text
//! Timestamp,Response,IOType,LUN,Offset,Size
//! 1456095145.133076000,0.000806000,R,0,899056122368,131072
//! ```
//!
//! `Timestamp` is when the request was issued, in seconds since 1970, accurate to the microsecond;
//! `Response` is in seconds, and may be blank. `IOType` is `R`, `W` or blank: such requests are
//! skipped. `Offset` and `Size` are in bytes. A drive is a `LUN`. The published files are
//! compressed with gzip.

use crate::RequestKind;
use crate::error::TraceFault;
use crate::event::TraceStep;
use crate::field::{columns, first_line, scaled, seconds};
use crate::lines::TraceLine;
use crate::request::plain;

const TITLES: &[u8] = b"Timestamp,Response,";

/// Whether the first line of a trace is of this format.
pub fn looks_like(first_bytes: &[u8]) -> bool {
    let line = first_line(first_bytes);
    line.starts_with(TITLES) || matches!(reported(line), Ok(Some(_)))
}

/// The request of a line, with times since 1970.
pub fn reported(line: &[u8]) -> Result<Option<TraceLine<'_>>, TraceFault> {
    if line.is_empty() || line.starts_with(TITLES) {
        return Ok(None);
    }
    let [timestamp, response, io_type, drive, offset, size] = columns(line)?;
    let kind = match io_type {
        b"R" | b"Read" => RequestKind::Read,
        b"W" | b"Write" => RequestKind::Write,
        b"" => return Ok(None),
        _ => return Err(TraceFault::new("the type", "R, W or blank", io_type)),
    };
    let time = |what, field: &[u8]| {
        seconds(field).ok_or_else(|| TraceFault::new(what, "seconds with decimal places", field))
    };
    let submitted_ns = time("the timestamp", timestamp)?;
    let bytes = "a number of bytes";
    let offset_bytes = scaled("the offset", bytes, 1, offset)?;
    let length_bytes = scaled("the size", bytes, 1, size)?;
    let mut request = plain(submitted_ns, kind, offset_bytes, length_bytes);
    if !response.is_empty() {
        let response_ns = time("the response time", response)?;
        request.completed_ns = Some(submitted_ns.saturating_add(response_ns));
    }
    Ok(Some(TraceLine { drive, step: TraceStep::Submitted(None), request }))
}
