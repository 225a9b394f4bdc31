//! Defines the log of the device-mapper target log-writes, as it lies on the log device.
//!
//! Source: `drivers/md/dm-log-writes.c`, Linux 6.1. The first sector holds a super block, each
//! further entry a sector of its own, followed by the data of a write. Numbers are little-endian,
//! sectors those of the logged device.
//!
//! - Entries have no times: all requests are simultaneous, in the order of the log. A write is
//!   logged once a later flush was submitted, or at once if it was written with FUA, so the order
//!   is that in which data became durable rather than that of submission.
//! - There are no reads, and write-zeroes are not told from writes.
//! - `LOG_FLUSH_FLAG` with data is [`Flags::PREFLUSH`], and a flush without.
//! - Marks are skipped. What follows the entries that the super block counts is not part of the
//!   log: the device is larger.

use std::io::BufRead;

use zerocopy::byteorder::{LE, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, Unaligned};

use crate::error::Fault;
use crate::records::Records;
use crate::selection::Selection;
use crate::{Flags, Format, Kind, Position, Request, TraceError};

/// `WRITE_LOG_MAGIC`.
const MAGIC: u64 = 0x006a_7366_7773_6872;

/// `WRITE_LOG_VERSION`.
const VERSION: u64 = 1;

// `LOG_*_FLAG`.
const FLUSH: u64 = 1 << 0;
const FUA: u64 = 1 << 1;
const DISCARD: u64 = 1 << 2;
const MARK: u64 = 1 << 3;
const METADATA: u64 = 1 << 4;
const KNOWN: u64 = FLUSH | FUA | DISCARD | MARK | METADATA;

/// `struct log_write_super`.
#[derive(FromBytes, IntoBytes, Immutable, Unaligned)]
#[repr(C)]
struct Super {
    magic: U64<LE>,
    version: U64<LE>,
    entries: U64<LE>,
    sector_bytes: U32<LE>,
}

/// `struct log_write_entry`.
#[derive(FromBytes, IntoBytes, Immutable, Unaligned)]
#[repr(C)]
struct Entry {
    sector: U64<LE>,
    sectors: U64<LE>,
    flags: U64<LE>,
    /// The length of a mark, which lies in the entry's own sector.
    mark_bytes: U64<LE>,
}

/// Whether a trace with this beginning is such a log, of any version.
pub fn looks_like(first_bytes: &[u8]) -> bool {
    first_bytes.starts_with(&MAGIC.to_le_bytes())
}

/// The requests of a log, all at time 0.
#[derive(Debug)]
pub struct DmLogWrites<R> {
    records: Records<R>,
    pub selection: Selection,
    sector_bytes: u32,
    /// The number of entries that were not read yet.
    left: u64,
}

impl<R: BufRead> DmLogWrites<R> {
    pub fn new(input: R, selection: Selection) -> Result<Self, TraceError> {
        let mut records = Records::new(input, Format::DmLogWrites, 0);
        let Some(Super { magic, version, entries, sector_bytes }) = records.start()? else {
            return Err(truncated(&records));
        };
        let sector_bytes = sector_bytes.get();
        let fault = if magic.get() != MAGIC {
            Some(Fault::number("the magic number", "0x6a736677736872", magic.get()))
        } else if version.get() != VERSION {
            Some(Fault::number("the version", "1", version.get()))
        } else if !sector_bytes.is_power_of_two() || !(512..=65536).contains(&sector_bytes) {
            let expected = "a power of two from 512 to 65536";
            Some(Fault::number("the sector size", expected, sector_bytes.into()))
        } else {
            None
        };
        if let Some(fault) = fault {
            return Err(records.fault(fault));
        }
        records.skip(sector_bytes as usize - size_of::<Super>())?;
        Ok(Self { records, selection, sector_bytes, left: entries.get() })
    }

    pub fn next(&mut self) -> Result<Option<Request>, TraceError> {
        while self.left > 0 {
            self.left -= 1;
            let Some(entry) = self.records.start()? else {
                return Err(truncated(&self.records));
            };
            let (request, data_bytes) =
                parse(&entry, self.sector_bytes).map_err(|fault| self.records.fault(fault))?;
            self.records.skip(self.sector_bytes as usize - size_of::<Entry>())?;
            self.records.skip(data_bytes)?;
            if let Some(request) = request
                && self.selection.takes_drive(b"the only drive")?
            {
                return Ok(Some(request));
            }
        }
        Ok(None)
    }
}

impl<R> DmLogWrites<R> {
    pub fn position(&self) -> Position {
        self.records.position()
    }
}

fn truncated<R>(records: &Records<R>) -> TraceError {
    TraceError::Truncated { format: Format::DmLogWrites, position: records.position() }
}

/// The request of an entry, if it has one, and the number of bytes of data behind it.
fn parse(entry: &Entry, sector_bytes: u32) -> Result<(Option<Request>, usize), Fault> {
    let Entry { sector, sectors, flags, .. } = entry;
    let (sector, sectors, flags) = (sector.get(), sectors.get(), flags.get());
    if flags & !KNOWN != 0 {
        return Err(Fault::number("the sum of flags", "at most 31", flags));
    }
    let too_far = |what, sectors| Fault::number(what, "less than 2^64 bytes in all", sectors);
    let bytes = |sectors: u64| sectors.checked_mul(sector_bytes.into());
    let length_bytes = bytes(sectors).ok_or_else(|| too_far("the number of sectors", sectors))?;
    let has_data = flags & DISCARD == 0;
    let data_bytes = usize::try_from(if has_data { length_bytes } else { 0 });
    let data_bytes = data_bytes.map_err(|_| too_far("the number of sectors", sectors))?;
    if flags & MARK != 0 {
        return Ok((None, data_bytes));
    }
    let kind = match (flags & DISCARD != 0, flags & FLUSH != 0, sectors) {
        (true, ..) => Kind::Discard,
        (false, true, 0) => Kind::Flush,
        (false, ..) => Kind::Write,
    };
    let offset_bytes = if kind == Kind::Flush { Some(0) } else { bytes(sector) };
    let offset_bytes = offset_bytes.ok_or_else(|| too_far("the sector", sector))?;
    let mut of_request = Flags::empty();
    of_request.set(Flags::METADATA, flags & METADATA != 0);
    of_request.set(Flags::FUA, flags & FUA != 0);
    of_request.set(Flags::PREFLUSH, flags & FLUSH != 0 && kind != Kind::Flush);
    let request = Request {
        submitted_ns: 0,
        completed_ns: None,
        kind,
        offset_bytes,
        length_bytes,
        flags: of_request,
        origin: None,
    };
    Ok((Some(request), data_bytes))
}
