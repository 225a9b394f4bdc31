//! Defines the lines of Alibaba's block traces.
//!
//! Source: the README of <https://github.com/alibaba/block-traces> (Li et al. 2020, "An In-Depth
//! Analysis of Cloud Block Storage Workloads in Large-Scale Production", IISWC):
//!
//! ```text
//! device_id,opcode,offset,length,timestamp
//! 419,W,8792731648,16384,1577808144360767
//! ```
//!
//! `opcode` is `R` or `W`, `offset` and `length` are in bytes, and `timestamp`, when the request
//! was received, is in microseconds since 1970. A drive is a `device_id`. Completions are not
//! recorded.

use crate::RequestKind;
use crate::error::TraceFault;
use crate::event::TraceStep;
use crate::field::{columns, first_line, scaled};
use crate::lines::TraceLine;
use crate::request::plain;

const TITLES: &[u8] = b"device_id,";

/// Whether the first line of a trace is of this format.
pub fn looks_like(first_bytes: &[u8]) -> bool {
    let line = first_line(first_bytes);
    line.starts_with(b"device_id,opcode,") || matches!(reported(line), Ok(Some(_)))
}

/// The request of a line, with times since 1970.
pub fn reported(line: &[u8]) -> Result<Option<TraceLine<'_>>, TraceFault> {
    if line.is_empty() || line.starts_with(TITLES) {
        return Ok(None);
    }
    let [drive, opcode, offset, length, timestamp] = columns(line)?;
    let kind = match opcode {
        b"R" => RequestKind::Read,
        b"W" => RequestKind::Write,
        _ => return Err(TraceFault::new("the opcode", "R or W", opcode)),
    };
    let bytes = "a number of bytes";
    let offset_bytes = scaled("the offset", bytes, 1, offset)?;
    let length_bytes = scaled("the length", bytes, 1, length)?;
    let submitted_ns = scaled("the timestamp", "a number of microseconds", 1_000, timestamp)?;
    let request = plain(submitted_ns, kind, offset_bytes, length_bytes);
    Ok(Some(TraceLine { drive, step: TraceStep::Submitted(None), request }))
}
