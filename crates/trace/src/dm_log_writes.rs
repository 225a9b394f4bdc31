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
//! - Marks are not requests: a trace skips them. What follows the entries that the super block
//!   counts is not part of the log: the device is larger.

use std::io::BufRead;

use zerocopy::byteorder::{LE, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, Unaligned};

use crate::error::TraceFault;
use crate::records::BinaryRecords;
use crate::selection::Selection;
use crate::{Flags, Position, Request, RequestKind, TraceError, TraceFormat};

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

/// An entry of a [`DeviceLogReader`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeviceLogEntry {
    /// A text that somebody put into the log.
    Mark(String),
    /// A request, at time 0, and the data of a write.
    Request(Request, Vec<u8>),
}

/// A log with the data of its writes, entry by entry.
#[derive(Debug)]
pub struct DeviceLogReader<R>(Entries<R>);

impl<R: BufRead> DeviceLogReader<R> {
    /// Reads the header of a log.
    pub fn new(input: R) -> Result<Self, TraceError> {
        Entries::new(input).map(Self)
    }
}

impl<R: BufRead> Iterator for DeviceLogReader<R> {
    type Item = Result<DeviceLogEntry, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        let Self(entries) = self;
        let entry = entries.next().and_then(|entry| {
            let Some((meaning, data_bytes)) = entry else { return Ok(None) };
            let data = entries.records.take(data_bytes)?;
            Ok(Some(match meaning {
                Meaning::Mark(text) => DeviceLogEntry::Mark(text),
                Meaning::Request(request) => DeviceLogEntry::Request(request, data),
            }))
        });
        if entry.is_err() {
            entries.left = 0;
        }
        entry.transpose()
    }
}

/// The requests of a log, all at time 0.
#[derive(Debug)]
pub struct DmLogWrites<R> {
    entries: Entries<R>,
    pub selection: Selection,
}

impl<R: BufRead> DmLogWrites<R> {
    pub fn new(input: R, selection: Selection) -> Result<Self, TraceError> {
        Ok(Self { entries: Entries::new(input)?, selection })
    }

    pub fn next(&mut self) -> Result<Option<Request>, TraceError> {
        while let Some((meaning, data_bytes)) = self.entries.next()? {
            self.entries.records.skip(data_bytes)?;
            if let Meaning::Request(request) = meaning
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
        self.entries.records.position()
    }
}

/// What an entry says.
#[derive(Debug)]
enum Meaning {
    Mark(String),
    Request(Request),
}

/// The entries of a log. The caller reads the data behind each.
#[derive(Debug)]
struct Entries<R> {
    records: BinaryRecords<R>,
    sector_bytes: u32,
    /// The number of entries that were not read yet.
    left: u64,
}

impl<R: BufRead> Entries<R> {
    fn new(input: R) -> Result<Self, TraceError> {
        let mut records = BinaryRecords::new(input, TraceFormat::DmLogWrites, 0);
        let Some(Super { magic, version, entries, sector_bytes }) = records.start()? else {
            return Err(truncated(&records));
        };
        let sector_bytes = sector_bytes.get();
        let fault = if magic.get() != MAGIC {
            Some(TraceFault::number("the magic number", "0x6a736677736872", magic.get()))
        } else if version.get() != VERSION {
            Some(TraceFault::number("the version", "1", version.get()))
        } else if !sector_bytes.is_power_of_two() || !(512..=65536).contains(&sector_bytes) {
            let expected = "a power of two from 512 to 65536";
            Some(TraceFault::number("the sector size", expected, sector_bytes.into()))
        } else {
            None
        };
        if let Some(fault) = fault {
            return Err(records.fault(fault));
        }
        records.skip(sector_bytes as usize - size_of::<Super>())?;
        Ok(Self { records, sector_bytes, left: entries.get() })
    }

    /// The next entry, and the number of bytes of data behind it.
    fn next(&mut self) -> Result<Option<(Meaning, usize)>, TraceError> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let Some(entry) = self.records.start::<Entry>()? else {
            return Err(truncated(&self.records));
        };
        let rest = self.records.take(self.sector_bytes as usize - size_of::<Entry>())?;
        let parsed = parse(&entry, &rest, self.sector_bytes);
        parsed.map(Some).map_err(|fault| self.records.fault(fault))
    }
}

fn truncated<R>(records: &BinaryRecords<R>) -> TraceError {
    TraceError::Truncated { format: TraceFormat::DmLogWrites, position: records.position() }
}

/// What an entry with the rest of its sector says, and the number of bytes of data behind it.
fn parse(entry: &Entry, rest: &[u8], sector_bytes: u32) -> Result<(Meaning, usize), TraceFault> {
    let [sector, sectors, flags, mark_bytes] =
        [&entry.sector, &entry.sectors, &entry.flags, &entry.mark_bytes].map(|of| of.get());
    if flags & !KNOWN != 0 {
        return Err(TraceFault::number("the sum of flags", "at most 31", flags));
    }
    let too_far = |what, sectors| TraceFault::number(what, "less than 2^64 bytes in all", sectors);
    let bytes = |sectors: u64| sectors.checked_mul(sector_bytes.into());
    let length_bytes = bytes(sectors).ok_or_else(|| too_far("the number of sectors", sectors))?;
    let has_data = flags & DISCARD == 0;
    let data_bytes = usize::try_from(if has_data { length_bytes } else { 0 });
    let data_bytes = data_bytes.map_err(|_| too_far("the number of sectors", sectors))?;
    if flags & MARK != 0 {
        let text = usize::try_from(mark_bytes).ok().and_then(|length| rest.get(..length));
        let fault = || TraceFault::number("the length of a mark", "within its sector", mark_bytes);
        let text = String::from_utf8_lossy(text.ok_or_else(fault)?).into_owned();
        return Ok((Meaning::Mark(text), data_bytes));
    }
    let kind = match (flags & DISCARD != 0, flags & FLUSH != 0, sectors) {
        (true, ..) => RequestKind::Discard,
        (false, true, 0) => RequestKind::Flush,
        (false, ..) => RequestKind::Write,
    };
    let offset_bytes = if kind == RequestKind::Flush { Some(0) } else { bytes(sector) };
    let offset_bytes = offset_bytes.ok_or_else(|| too_far("the sector", sector))?;
    let mut of_request = Flags::empty();
    of_request.set(Flags::METADATA, flags & METADATA != 0);
    of_request.set(Flags::FUA, flags & FUA != 0);
    of_request.set(Flags::PREFLUSH, flags & FLUSH != 0 && kind != RequestKind::Flush);
    let request = Request {
        submitted_ns: 0,
        completed_ns: None,
        kind,
        offset_bytes,
        length_bytes,
        flags: of_request,
        origin: None,
    };
    Ok((Meaning::Request(request), data_bytes))
}
