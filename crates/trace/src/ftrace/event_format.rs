//! Defines how records of any event are read by the `format` file that describes them.
//!
//! Source: `f_show` in `kernel/trace/trace_events.c`. A text of varying length (`__data_loc`) is a
//! field of 32 bits: its offset in the record in the lower half, its length in the upper. Every
//! record begins with `common_type`, 16 bits, and has `common_pid` at offset 4.

use super::FtraceError;
use super::fields::{Field, RecordFormat};
use super::sub_buffer::{SubBufferHead, TraceRecords};

/// The event's number in every record (`struct trace_entry`).
const ID: Field = Field { offset: 0, size: 2 };
/// The thread in every record.
const THREAD: Field = Field { offset: 4, size: 4 };

/// The layout of sub-buffers, for readers of records.
#[derive(Debug, Clone)]
pub struct SubBufferLayout(SubBufferHead);

impl SubBufferLayout {
    /// Parses `events/header_page`.
    pub fn parse(header_page: &str) -> Result<Self, FtraceError> {
        Ok(Self(SubBufferHead::parse(header_page)?))
    }

    /// The size of a sub-buffer in bytes, which is the unit of reading.
    pub fn sub_buffer_bytes(&self) -> usize {
        self.0.sub_buffer_bytes()
    }

    /// The records of a sub-buffer in order; an error if it is truncated.
    pub fn records<'a>(&self, sub_buffer: &'a [u8]) -> Result<TraceRecords<'a>, FtraceError> {
        self.0.records(sub_buffer)
    }
}

/// The number of a record's event, and the thread in which it happened.
pub fn record_head(record: &[u8]) -> Option<(u16, u32)> {
    let number = |field: Field| field.number(record);
    Some((u16::try_from(number(ID)?).ok()?, u32::try_from(number(THREAD)?).ok()?))
}

/// The layout of an event's records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventFormat {
    /// The event's number.
    pub id: u16,
    numbers: Vec<Field>,
    text: Option<Field>,
    is_text_far: bool,
}

impl EventFormat {
    /// Parses the `format` of an event, with the fields that are read. `file` names it in errors.
    pub fn parse(
        file: &'static str,
        format: &str,
        numbers: &[&'static str],
        text: Option<&'static str>,
    ) -> Result<Self, FtraceError> {
        let description = RecordFormat { file, text: format };
        let fields = numbers.iter().map(|name| {
            let field = description.bytes(name)?;
            Ok(Field { size: field.size.min(8), ..field })
        });
        Ok(Self {
            id: description.number("ID")?,
            numbers: fields.collect::<Result<_, _>>()?,
            text: text.map(|name| description.bytes(name)).transpose()?,
            is_text_far: text.is_some_and(|name| description.is_far(name)),
        })
    }

    /// A number of a record, by its place among those that were asked for; of an array, its first
    /// eight bytes. 0 if the record is too short.
    #[inline]
    pub fn number(&self, index: usize, record: &[u8]) -> u64 {
        self.numbers.get(index).and_then(|field| field.number(record)).unwrap_or(0)
    }

    /// The text of a record, up to its first zero.
    pub fn text<'a>(&self, record: &'a [u8]) -> Option<&'a [u8]> {
        let field = self.text?;
        let bytes = if self.is_text_far {
            let place = usize::try_from(field.number(record)?).ok()?;
            let (offset, length) = (place & 0xffff, place >> 16);
            record.get(offset..offset.checked_add(length)?)?
        } else {
            field.bytes(record)?
        };
        bytes.split(|byte| *byte == 0).next()
    }
}

#[cfg(test)]
mod tests;
