//! Defines how tracefs describes the layout of records in text, and locates fields by it.
//!
//! Source: `f_show` in `kernel/trace/trace_events.c` and `ring_buffer_print_page_header`. A field
//! is a line, `field:sector_t sector; offset:16; size:8; signed:0;`, with a C declaration. `signed`
//! is ignored, because all fields read here are unsigned or letters.

use super::FtraceError;
use crate::error::excerpt;

/// The maximum end of a field, in bytes: no sub-buffer is larger.
const FURTHEST: usize = 1 << 24;

/// A description in one file of tracefs.
#[derive(Debug, Clone, Copy)]
pub struct RecordFormat<'a> {
    /// The file below `events`.
    pub file: &'static str,
    /// Its contents.
    pub text: &'a str,
}

/// The location of a field in a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    pub offset: usize,
    pub size: usize,
}

impl RecordFormat<'_> {
    /// The number after a word at the start of a line, as in `ID: 7`.
    pub fn number(&self, word: &'static str) -> Result<u16, FtraceError> {
        let line = self.text.lines().find_map(|line| line.strip_prefix(word));
        let value = line.ok_or_else(|| self.undescribed(word))?.trim_start_matches(':').trim();
        value.parse().map_err(|_| self.misdescribed(word, "a number below 65536", value))
    }

    /// The field of this name, of any type.
    pub fn bytes(&self, name: &'static str) -> Result<Field, FtraceError> {
        let mut lines = self.text.lines().filter_map(|line| line.trim().strip_prefix("field:"));
        let line = lines.find(|line| declared(line) == Some(name));
        let line = line.ok_or_else(|| self.undescribed(name))?;
        let value = |key| {
            let mut parts = line.split(';').filter_map(|part| part.trim().strip_prefix(key));
            parts.next().and_then(|value| value.parse::<usize>().ok())
        };
        let field = value("offset:").zip(value("size:")).filter(|(offset, size)| {
            offset.checked_add(*size).is_some_and(|end| *size > 0 && end <= FURTHEST)
        });
        let (offset, size) = field
            .ok_or_else(|| self.misdescribed(name, "a field with an offset and a size", line))?;
        Ok(Field { offset, size })
    }

    /// The field of this name, which must be a number.
    pub fn integer(&self, name: &'static str) -> Result<Field, FtraceError> {
        let field = self.bytes(name)?;
        if matches!(field.size, 1 | 2 | 4 | 8) {
            return Ok(field);
        }
        let found = format!("{} bytes", field.size);
        Err(self.misdescribed(name, "a number of 1, 2, 4 or 8 bytes", &found))
    }

    /// Whether the field of this name only says where in the record its bytes are.
    pub fn is_far(&self, name: &str) -> bool {
        let mut lines = self.text.lines().filter_map(|line| line.trim().strip_prefix("field:"));
        let is_it = |line: &&str| declared(line).is_some_and(|own| own == name);
        lines.find(is_it).is_some_and(|line| line.starts_with("__data_loc"))
    }

    fn undescribed(&self, what: &'static str) -> FtraceError {
        FtraceError::Undescribed { file: self.file, what }
    }

    fn misdescribed(&self, what: &'static str, expected: &'static str, found: &str) -> FtraceError {
        let found = excerpt(found.as_bytes());
        FtraceError::Misdescribed { file: self.file, what, expected, found }
    }
}

/// The name in a declaration like `char rwbs[10]`.
fn declared(line: &str) -> Option<&str> {
    let declaration = line.split(';').next()?;
    declaration.split_whitespace().next_back()?.split('[').next()
}

impl Field {
    /// The bytes of the field, if the record is long enough.
    #[inline]
    pub fn bytes(self, record: &[u8]) -> Option<&[u8]> {
        record.get(self.offset..self.offset + self.size)
    }

    /// The little-endian number in a field made by [`RecordFormat::integer`].
    #[inline]
    pub fn number(self, record: &[u8]) -> Option<u64> {
        let bytes = self.bytes(record)?;
        let mut wide = [0; 8];
        wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(u64::from_le_bytes(wide))
    }
}
