//! Defines ssdlab's own request log: the requests to one drive and their times.
//!
//! The log is binary and little-endian throughout. It starts with a header of 32 bytes:
//!
//! | at | size | field |
//! |---|---|---|
//! | 0 | 8 | magic: the ASCII letters `ssdlabrq` |
//! | 8 | 4 | version: 2 |
//! | 12 | 4 | reserved: written as 0, not read |
//! | 16 | 8 | capacity of the drive, in bytes |
//! | 24 | 8 | reserved: written as 0, not read |
//!
//! Records of 40 bytes follow until the end of the file:
//!
//! | at | size | field |
//! |---|---|---|
//! | 0 | 8 | time of submission, in nanoseconds of any monotonic clock |
//! | 8 | 8 | time of completion by that clock; 2^64 - 1 if unknown |
//! | 16 | 8 | first sector, always of 512 bytes; 0 for a flush |
//! | 24 | 4 | number of sectors: 0 for a flush, otherwise at least 1 |
//! | 28 | 1 | kind: 0 read, 1 write, 2 flush, 3 discard, 4 write-zeroes |
//! | 29 | 1 | reserved: written as 0, not read |
//! | 30 | 2 | flags: bit 0 sync, 1 metadata, 2 FUA, 3 preflush, 4 read-ahead; others are 0 |
//! | 32 | 4 | number of sectors of directories; 2^32 - 1 if unknown |
//! | 36 | 4 | number of sectors of the filesystem's own structures; 2^32 - 1 if unknown |
//!
//! Records are in submission order. No request ends beyond the capacity or completes before it is
//! submitted. A file whose last record is incomplete was truncated; the records before it are
//! valid. Any change to the format needs a new version. Version 1, whose records end after the
//! flags, is read but no longer written.

use std::io::{BufRead, Write};

use zerocopy::byteorder::{LE, U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, Unaligned};

use crate::error::TraceFault;
use crate::field::{SECTOR_BYTES, bytes_before};
use crate::records::BinaryRecords;
use crate::selection::Selection;
use crate::{Flags, Position, Request, RequestKind, TraceError, TraceFormat, WriteOrigin};

const MAGIC: [u8; 8] = *b"ssdlabrq";
const VERSION: u32 = 2;

/// The time of an unknown completion.
const NEVER: u64 = u64::MAX;

/// The number of sectors if owners are unknown.
const NOBODY: u32 = u32::MAX;

#[derive(FromBytes, IntoBytes, Immutable, Unaligned)]
#[repr(C)]
struct Header {
    magic: [u8; 8],
    version: U32<LE>,
    reserved: U32<LE>,
    capacity_bytes: U64<LE>,
    reserved_too: U64<LE>,
}

#[derive(FromBytes, IntoBytes, Immutable, Unaligned)]
#[repr(C)]
struct Record {
    submitted_ns: U64<LE>,
    completed_ns: U64<LE>,
    sector: U64<LE>,
    sectors: U32<LE>,
    kind: u8,
    reserved: u8,
    flags: U16<LE>,
}

/// The rest of a record in version 2.
#[derive(FromBytes, IntoBytes, Immutable, Unaligned)]
#[repr(C)]
struct Owners {
    directory_sectors: U32<LE>,
    metadata_sectors: U32<LE>,
}

/// Writes a request log, record by record.
///
/// Each record is a small write, so the output should be buffered.
#[derive(Debug)]
pub struct RequestLogWriter<W> {
    output: W,
    capacity_bytes: u64,
}

impl<W: Write> RequestLogWriter<W> {
    /// Writes the header of a log for a drive of this capacity.
    pub fn new(mut output: W, capacity_bytes: u64) -> Result<Self, TraceError> {
        let header = Header {
            magic: MAGIC,
            version: VERSION.into(),
            reserved: 0.into(),
            capacity_bytes: capacity_bytes.into(),
            reserved_too: 0.into(),
        };
        output.write_all(header.as_bytes()).map_err(|cause| TraceError::Write { cause })?;
        Ok(Self { output, capacity_bytes })
    }

    /// Appends one request, submitted no earlier than the previous one.
    ///
    /// Times may be from any clock; a reader makes them relative. A request that does not fit the
    /// format is refused; the log stays valid.
    pub fn append(&mut self, request: &Request) -> Result<(), TraceError> {
        let parts = record(request, self.capacity_bytes)
            .and_then(|record| Ok((record, owners(request)?)))
            .map_err(|TraceFault { what, expected, found }| TraceError::Unwritable {
                what,
                expected,
                found,
            });
        let (record, owners) = parts?;
        self.output
            .write_all(record.as_bytes())
            .and_then(|()| self.output.write_all(owners.as_bytes()))
            .map_err(|cause| TraceError::Write { cause })
    }

    /// Flushes and returns the output.
    pub fn finish(mut self) -> Result<W, TraceError> {
        self.output.flush().map_err(|cause| TraceError::Write { cause })?;
        Ok(self.output)
    }
}

/// Whether a trace with this beginning is a request log, of any version.
pub fn looks_like(first_bytes: &[u8]) -> bool {
    first_bytes.starts_with(&MAGIC)
}

/// The requests of a log, with times by its clock.
#[derive(Debug)]
pub struct RequestLog<R> {
    records: BinaryRecords<R>,
    pub selection: Selection,
    pub capacity_bytes: u64,
    has_owners: bool,
}

impl<R: BufRead> RequestLog<R> {
    pub fn new(input: R, mut selection: Selection) -> Result<Self, TraceError> {
        let format = TraceFormat::RequestLog;
        let mut records = BinaryRecords::new(input, format, 0);
        let Some(header) = records.start::<Header>()? else {
            return Err(TraceError::Truncated { format, position: records.position() });
        };
        if header.magic != MAGIC {
            let fault = TraceFault::new("the magic", "ssdlabrq", header.magic.as_bytes());
            return Err(records.fault(fault));
        }
        let found = header.version.get();
        if !(1..=VERSION).contains(&found) {
            return Err(TraceError::UnknownVersion { format, found, known: "1 or 2" });
        }
        if !selection.takes_drive(b"the only drive")? {
            selection.check_met()?;
        }
        let capacity_bytes = header.capacity_bytes.get();
        Ok(Self { records, selection, capacity_bytes, has_owners: found > 1 })
    }

    pub fn next(&mut self) -> Result<Option<Request>, TraceError> {
        let Some(record) = self.records.start()? else { return Ok(None) };
        let owners = if self.has_owners { Some(self.records.rest()?) } else { None };
        request(&record, owners.as_ref(), self.capacity_bytes)
            .map(Some)
            .map_err(|fault| self.records.fault(fault))
    }

    pub fn position(&self) -> Position {
        self.records.position()
    }
}

/// The record of a request, if the format can represent it.
fn record(request: &Request, capacity_bytes: u64) -> Result<Record, TraceFault> {
    check(request, capacity_bytes)?;
    let whole_sectors = |what, bytes: u64| {
        let fault = || TraceFault::number(what, "a multiple of 512 bytes", bytes);
        if bytes.is_multiple_of(SECTOR_BYTES) { Ok(bytes / SECTOR_BYTES) } else { Err(fault()) }
    };
    let sector = whole_sectors("the offset", request.offset_bytes)?;
    let sectors = whole_sectors("the length", request.length_bytes)?;
    let sectors = u32::try_from(sectors)
        .map_err(|_| TraceFault::number("the length", "below 2^32 sectors", sectors))?;
    Ok(Record {
        submitted_ns: request.submitted_ns.into(),
        completed_ns: request.completed_ns.unwrap_or(NEVER).into(),
        sector: sector.into(),
        sectors: sectors.into(),
        kind: request.kind as u8,
        reserved: 0,
        flags: request.flags.bits().into(),
    })
}

/// The owners of a request's sectors.
fn owners(request: &Request) -> Result<Owners, TraceFault> {
    let sectors = |what, bytes: u64| {
        let fault = || TraceFault::number(what, "whole sectors below 2^32 - 1", bytes);
        let sectors = u32::try_from(bytes / SECTOR_BYTES).ok();
        let sectors = sectors.filter(|sectors| *sectors < NOBODY);
        sectors.filter(|_| bytes.is_multiple_of(SECTOR_BYTES)).ok_or_else(fault)
    };
    let (directory, metadata) = match request.origin {
        None => (NOBODY, NOBODY),
        Some(WriteOrigin { directory_bytes, metadata_bytes }) => (
            sectors("the bytes of directories", directory_bytes)?,
            sectors("the bytes of structures", metadata_bytes)?,
        ),
    };
    Ok(Owners { directory_sectors: directory.into(), metadata_sectors: metadata.into() })
}

impl Owners {
    fn origin(&self) -> Option<WriteOrigin> {
        let [directory_bytes, metadata_bytes] = [self.directory_sectors, self.metadata_sectors]
            .map(|sectors| Some(sectors.get()).filter(|sectors| *sectors != NOBODY))
            .map(|sectors| sectors.map(|sectors| u64::from(sectors) * SECTOR_BYTES));
        Some(WriteOrigin { directory_bytes: directory_bytes?, metadata_bytes: metadata_bytes? })
    }
}

/// The request of a record, if it is valid.
fn request(
    record: &Record,
    owners: Option<&Owners>,
    capacity_bytes: u64,
) -> Result<Request, TraceFault> {
    let kind = RequestKind::ALL.get(usize::from(record.kind)).copied();
    let flags = Flags::from_bits(record.flags.get());
    let request = Request {
        submitted_ns: record.submitted_ns.get(),
        completed_ns: Some(record.completed_ns.get()).filter(|time| *time != NEVER),
        kind: kind.ok_or_else(|| TraceFault::number("the kind", "0 to 4", record.kind.into()))?,
        offset_bytes: bytes_before(record.sector.get())?,
        length_bytes: u64::from(record.sectors.get()) * SECTOR_BYTES,
        flags: flags.ok_or_else(|| {
            TraceFault::number("the set of flags", "below 32", record.flags.get().into())
        })?,
        origin: owners.and_then(Owners::origin),
    };
    check(&request, capacity_bytes)?;
    Ok(request)
}

/// Checks the invariants of every record, read or written.
fn check(request: &Request, capacity_bytes: u64) -> Result<(), TraceFault> {
    let fault = |what, expected, found| Err(TraceFault::number(what, expected, found));
    if request.completed_ns.is_some_and(|time| time < request.submitted_ns) {
        return fault("the submission", "before the completion", request.submitted_ns);
    }
    let (offset, length) = (request.offset_bytes, request.length_bytes);
    if let Some(WriteOrigin { directory_bytes, metadata_bytes }) = request.origin {
        let owned_bytes = directory_bytes.saturating_add(metadata_bytes);
        if owned_bytes > length {
            return fault("the bytes whose owner is known", "at most the length", owned_bytes);
        }
    }
    match request.kind {
        RequestKind::Flush if (offset, length) == (0, 0) => Ok(()),
        RequestKind::Flush => fault("the range of a flush", "0", offset.max(length)),
        _ if length == 0 => fault("the length", "above 0 for all but a flush", length),
        _ if offset.checked_add(length).is_none_or(|end| end > capacity_bytes) => {
            fault("the offset", "one whose range lies within the drive's capacity", offset)
        }
        _ => Ok(()),
    }
}
