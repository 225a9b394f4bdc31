//! Writes a log: its header, the initial directory, then the operations.

use std::fmt::Display;
use std::io::{self, Write};

use crate::text::escape;
use crate::{Entry, LogHeader, Operation, OperationLogError};

/// The first line of a log, before the version.
pub const MAGIC: &str = "ssdlab operation log ";

/// The version written.
pub const VERSION: &str = "1";

/// The longest title, in bytes as escaped.
pub const LONGEST_TITLE: usize = 1024;

/// Writes the operations of a log.
///
/// Each operation is a small write, so the output should be buffered.
#[derive(Debug)]
pub struct LogWriter<W> {
    output: W,
}

impl<W: Write> LogWriter<W> {
    /// Writes the header of a log and the initial directory. A title that is too long is truncated.
    pub fn new(
        mut output: W,
        header: &LogHeader,
        before: &[Entry],
    ) -> Result<Self, OperationLogError> {
        begin(&mut output, header, before).map_err(|cause| OperationLogError::Write { cause })?;
        Ok(Self { output })
    }

    /// Writes one operation.
    pub fn append(&mut self, operation: &Operation) -> Result<(), OperationLogError> {
        self.line(operation)
    }

    /// Writes the last line, then flushes and returns the output.
    pub fn finish(mut self) -> Result<W, OperationLogError> {
        self.line("end")?;
        self.output.flush().map_err(|cause| OperationLogError::Write { cause })?;
        Ok(self.output)
    }

    fn line(&mut self, line: impl Display) -> Result<(), OperationLogError> {
        writeln!(self.output, "{line}").map_err(|cause| OperationLogError::Write { cause })
    }
}

fn begin(output: &mut impl Write, header: &LogHeader, before: &[Entry]) -> io::Result<()> {
    writeln!(output, "{MAGIC}{VERSION}")?;
    writeln!(output, "title {}", title(&header.title))?;
    for (omission, count) in header.left_out.iter() {
        writeln!(output, "left-out {omission} {count}")?;
    }
    writeln!(output, "before")?;
    for entry in before {
        writeln!(output, "{entry}")?;
    }
    writeln!(output, "operations")
}

/// A title as written in a line: spaces stay, and no character is split.
fn title(title: &str) -> String {
    let mut shown = String::new();
    for character in title.chars() {
        let escaped = match character {
            ' ' => " ".to_owned(),
            _ => escape(character.encode_utf8(&mut [0; 4]).as_bytes()),
        };
        if shown.len() + escaped.len() > LONGEST_TITLE {
            break;
        }
        shown.push_str(&escaped);
    }
    shown
}
