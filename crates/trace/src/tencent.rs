//! Defines the lines of Tencent's block traces.
//!
//! Source: the description of the traces (SNIA IOTTA repository; Zhang et al. 2020, "OSCA: An
//! Online-Model Based Cache Allocation Scheme in Cloud Block Storage Systems", ATC):
//!
//! ```text
//! Timestamp,Offset,Size,IOType,VolumeID
//! 1538323200,12910952,128,0,1063
//! ```
//!
//! `Timestamp` is in whole seconds since 1970, so the requests of a second are simultaneous here.
//! `Offset` and `Size` are in sectors of 512 bytes, and `IOType` is 0 for a read and 1 for a write.
//! A drive is a `VolumeID`. Completions are not recorded, and the files have no header line.

use crate::RequestKind;
use crate::error::TraceFault;
use crate::event::TraceStep;
use crate::field::{SECTOR_BYTES, columns, first_line, scaled};
use crate::lines::TraceLine;
use crate::request::plain;

const TITLES: &[u8] = b"Timestamp,Offset,";

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
    let [timestamp, offset, size, io_type, drive] = columns(line)?;
    let submitted_ns = scaled("the timestamp", "a number of seconds", 1_000_000_000, timestamp)?;
    let sectors = "a number of 512-byte sectors";
    let offset_bytes = scaled("the offset", sectors, SECTOR_BYTES, offset)?;
    let length_bytes = scaled("the size", sectors, SECTOR_BYTES, size)?;
    let kind = match io_type {
        b"0" => RequestKind::Read,
        b"1" => RequestKind::Write,
        _ => return Err(TraceFault::new("the type", "0 (read) or 1 (write)", io_type)),
    };
    let request = plain(submitted_ns, kind, offset_bytes, length_bytes);
    Ok(Some(TraceLine { drive, step: TraceStep::Submitted(None), request }))
}
