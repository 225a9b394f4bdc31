//! Exports a run's samples and analysis as files for other programs. Pure: the caller opens the
//! output.
//!
//! Text is as in the plan or the record. Each format's file says how it handles unsupported
//! characters and text that looks like a formula.

mod csv;
mod ods;
mod samples;
mod sheets;

use std::borrow::Cow;

pub use self::csv::csv;
pub use self::samples::Samples;
pub use self::sheets::ods;

/// A value in a table.
#[derive(Debug, Clone, PartialEq)]
enum Cell<'a> {
    Empty,
    Text(Cow<'a, str>),
    Integer(u64),
    Number(f64),
}

impl<'a> Cell<'a> {
    /// A text; an empty cell if it is empty.
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

/// The text without characters that control a terminal or break a format: XML 1.0 forbids most
/// control characters (section 2.2), RFC 4180 all but line breaks. They become U+FFFD, the
/// replacement character.
fn printable(text: &str) -> Cow<'_, str> {
    let is_forbidden =
        |c: char| c.is_control() && c != '\n' && c != '\t' || matches!(c, '\u{fffe}' | '\u{ffff}');
    if text.contains(is_forbidden) {
        Cow::Owned(text.replace(is_forbidden, "\u{fffd}"))
    } else {
        Cow::Borrowed(text)
    }
}
