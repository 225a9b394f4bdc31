//! Exports: a run's samples and analysis as files that other programs read. Pure: bytes are written
//! to what the caller has opened.
//!
//! Text is as it was in the plan or the record. Where a format cannot carry a character, or a
//! reader would take a text for a formula, the file of that format says what is done.

mod csv;
mod ods;
mod parquet;
mod samples;
mod sheets;

use std::borrow::Cow;

pub use self::csv::csv;
pub use self::parquet::parquet;
pub use self::samples::Samples;
pub use self::sheets::ods;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ColumnType {
    Text,
    Integer,
    Number,
}

/// A value in a table.
#[derive(Debug, Clone, PartialEq)]
enum Cell<'a> {
    Empty,
    Text(Cow<'a, str>),
    Integer(u64),
    Number(f64),
}

impl<'a> Cell<'a> {
    /// A text; nothing where it is empty.
    fn text(text: impl Into<Cow<'a, str>>) -> Self {
        let text = text.into();
        if text.is_empty() { Self::Empty } else { Self::Text(text) }
    }
}

impl From<u64> for Cell<'_> {
    fn from(value: u64) -> Self {
        Self::Integer(value)
    }
}

impl From<u32> for Cell<'_> {
    fn from(value: u32) -> Self {
        Self::Integer(value.into())
    }
}

impl From<usize> for Cell<'_> {
    fn from(value: usize) -> Self {
        Self::Integer(value as u64)
    }
}

impl From<f64> for Cell<'_> {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

impl<'a, T: Into<Cell<'a>>> From<Option<T>> for Cell<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Empty, Into::into)
    }
}

/// A text in which no character steers a terminal or breaks a format: XML 1.0 forbids most control
/// characters (section 2.2), RFC 4180 all but line breaks. They become U+FFFD, the replacement
/// character.
fn printable(text: &str) -> Cow<'_, str> {
    let is_forbidden =
        |c: char| c.is_control() && c != '\n' && c != '\t' || matches!(c, '\u{fffe}' | '\u{ffff}');
    if text.contains(is_forbidden) {
        Cow::Owned(text.replace(is_forbidden, "\u{fffd}"))
    } else {
        Cow::Borrowed(text)
    }
}
