//! Defines the sub-buffers of the kernel's ring buffer: a header, and records in time order.
//!
//! Source: `kernel/trace/ring_buffer.c` and `include/linux/ring_buffer.h`. `events/header_page`
//! gives the offsets of the time, the length of the data (`commit`) and the data. A record begins
//! with 32 bits: a type in the lowest 5, and above it the time in ns since the previous record.
//!
//! | type | record |
//! |---|---|
//! | 0 | 32 bits with the length, including themselves, then data |
//! | 1 to 28 | 4 times as many bytes of data |
//! | 29 | padding: like type 0, but the rest of the sub-buffer if the time is 0 |
//! | 30 | 32 bits with the upper part of a longer time |
//! | 31 | the same, but an absolute time without its highest 5 bits |
//!
//! A record discarded after it was reserved becomes padding and keeps its time, but 0 becomes 1.

use super::FtraceError;
use super::fields::{Field, RecordFormat};

const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;

/// The bits of a time below those that an extension holds (`TS_SHIFT`).
const TIME_BITS: u32 = 27;

/// The highest bits of the clock, which an absolute time omits (`TS_MSB`).
const OMITTED: u64 = 0xf8 << 56;

/// `commit` without its flags.
const LENGTH: u64 = (1 << 27) - 1;

/// A flag in `commit`: records were overwritten before this sub-buffer was read.
const MISSED_EVENTS: u64 = 1 << 31;

/// A flag in `commit`: their number follows the data, as a `long`.
const MISSED_STORED: u64 = 1 << 30;

/// The locations of the parts of a sub-buffer.
#[derive(Debug, Clone)]
pub struct SubBufferHead {
    timestamp: Field,
    commit: Field,
    data: Field,
}

/// The records of one sub-buffer, up to the first error.
#[derive(Debug)]
pub struct TraceRecords<'a> {
    /// How many records were lost before these; a lower bound.
    pub lost: u64,
    time_ns: u64,
    rest: &'a [u8],
}

#[derive(Debug, PartialEq, Eq)]
pub struct TraceRecord<'a> {
    /// On the clock of the trace.
    pub time_ns: u64,
    /// Its bytes.
    pub data: &'a [u8],
}

impl SubBufferHead {
    /// Parses `events/header_page`.
    pub fn parse(text: &str) -> Result<Self, FtraceError> {
        let description = RecordFormat { file: "header_page", text };
        Ok(Self {
            timestamp: description.integer("timestamp")?,
            commit: description.integer("commit")?,
            data: description.bytes("data")?,
        })
    }

    /// The size of a sub-buffer.
    pub fn sub_buffer_bytes(&self) -> usize {
        self.data.offset + self.data.size
    }

    /// The records of a sub-buffer; an error if it is truncated.
    pub fn records<'a>(&self, sub_buffer: &'a [u8]) -> Result<TraceRecords<'a>, FtraceError> {
        let cut = |expected| FtraceError::malformed("the length", expected, sub_buffer.len());
        let head = self.timestamp.number(sub_buffer).zip(self.commit.number(sub_buffer));
        let (time_ns, commit) = head.ok_or_else(|| cut("that of its head or more"))?;
        let data = sub_buffer.get(self.data.offset..).unwrap_or_default();
        let length = usize::try_from(commit & LENGTH).unwrap_or(usize::MAX);
        let (rest, behind) =
            data.split_at_checked(length).ok_or_else(|| cut("that of its data"))?;
        let lost = match (commit & MISSED_EVENTS != 0, commit & MISSED_STORED != 0) {
            (false, _) => 0,
            (true, false) => 1,
            (true, true) => {
                let stored = Field { offset: 0, size: self.commit.size };
                stored.number(behind).unwrap_or(1).max(1)
            }
        };
        Ok(TraceRecords { lost, time_ns, rest })
    }
}

impl<'a> TraceRecords<'a> {
    /// Takes bytes off the rest.
    #[inline]
    fn take(&mut self, bytes: usize) -> Result<&'a [u8], FtraceError> {
        if let Some((taken, rest)) = self.rest.split_at_checked(bytes) {
            self.rest = rest;
            return Ok(taken);
        }
        let left = self.rest.len();
        Err(FtraceError::malformed("a record", "within the data", bytes.saturating_sub(left)))
    }

    #[inline]
    fn word(&mut self) -> Result<u32, FtraceError> {
        let bytes = self.take(4)?;
        Ok(bytes.try_into().map_or(0, u32::from_le_bytes))
    }

    /// The data of a record that begins with its length.
    fn long(&mut self) -> Result<&'a [u8], FtraceError> {
        let length = self.word()? as usize;
        let data = length
            .checked_sub(4)
            .ok_or_else(|| FtraceError::malformed("the length of a record", "4 or more", length))?;
        self.take(data.next_multiple_of(4))
    }

    #[inline]
    fn advance(&mut self) -> Result<Option<TraceRecord<'a>>, FtraceError> {
        while !self.rest.is_empty() {
            let word = self.word()?;
            let (kind, time) = (word & 31, u64::from(word >> 5));
            let data = match kind {
                PADDING if time == 0 => break,
                PADDING => {
                    self.long()?;
                    self.pass(if time == 1 { 0 } else { time });
                    continue;
                }
                TIME_EXTEND => {
                    let upper = u64::from(self.word()?) << TIME_BITS;
                    self.pass(upper + time);
                    continue;
                }
                TIME_STAMP => {
                    let upper = u64::from(self.word()?) << TIME_BITS;
                    self.time_ns = (upper + time) | (self.time_ns & OMITTED);
                    continue;
                }
                0 => self.long()?,
                words => self.take(words as usize * 4)?,
            };
            self.pass(time);
            return Ok(Some(TraceRecord { time_ns: self.time_ns, data }));
        }
        self.rest = &[];
        Ok(None)
    }

    fn pass(&mut self, time_ns: u64) {
        self.time_ns = self.time_ns.saturating_add(time_ns);
    }
}

impl<'a> Iterator for TraceRecords<'a> {
    type Item = Result<TraceRecord<'a>, FtraceError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let next = self.advance();
        if next.is_err() {
            self.rest = &[];
        }
        next.transpose()
    }
}
