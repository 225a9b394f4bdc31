//! CSV: the samples by RFC 4180, in UTF-8, with a header.

use std::borrow::Cow;
use std::io::{self, Write};

use ::csv::{ByteRecord, Terminator, WriterBuilder};

use super::{Cell, Samples, printable};

/// Writes the samples as CSV.
///
/// Spreadsheets interpret text that begins with `=`, `+`, `-` or `@`, or with the full-width form
/// of one of them, as a formula, by which a malicious plan could run programs (OWASP, "CSV
/// Injection"). Such text, and text that begins with an apostrophe, a tab or a line feed, is
/// prefixed with an apostrophe; removing one leading apostrophe restores the text. Control
/// characters other than tabs and line feeds become U+FFFD.
pub fn csv(samples: &Samples<'_>, out: impl Write) -> io::Result<()> {
    let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(out);
    writer.write_record(samples.columns())?;
    for trial in samples.trials() {
        let shared: Vec<Cow<'_, str>> = trial.cells.iter().map(field).collect();
        for row in trial.rows() {
            let mut record: ByteRecord = shared.iter().map(|field| field.as_bytes()).collect();
            for cell in &row {
                record.push_field(field(cell).as_bytes());
            }
            writer.write_byte_record(&record)?;
        }
    }
    writer.flush()
}

/// How text begins that gets an apostrophe.
const GUARDED: [char; 11] =
    ['=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}', '\'', '\t', '\n'];

fn field<'a>(cell: &'a Cell<'_>) -> Cow<'a, str> {
    match cell {
        Cell::Empty => Cow::Borrowed(""),
        Cell::Integer(value) => Cow::Owned(value.to_string()),
        // The shortest digits that round-trip.
        Cell::Number(value) => Cow::Owned(value.to_string()),
        Cell::Text(text) => {
            let text = printable(text);
            match text.chars().next() {
                Some(first) if GUARDED.contains(&first) => Cow::Owned(format!("'{text}")),
                _ => text,
            }
        }
    }
}

#[cfg(test)]
mod tests;
