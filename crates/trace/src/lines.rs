//! Defines how lines are read: borrowed from the input's buffer if it contains them whole.

use std::io::{self, BufRead, ErrorKind};
use std::mem;

use memchr::memchr;

use crate::error::TraceFault;
use crate::event::TraceStep;
use crate::{Position, Request, TraceError, TraceFormat};

/// The maximum length of a line in bytes: no tool writes longer ones, and memory must stay bounded.
const LONGEST: usize = 64 << 10;

/// What a line reports.
pub struct TraceLine<'a> {
    /// The drive, as the trace names it.
    pub drive: &'a [u8],
    pub step: TraceStep,
    /// The request, or the part of it that the step is about.
    pub request: Request,
}

/// The lines of a text trace.
#[derive(Debug)]
pub struct TraceLines<R> {
    input: R,
    format: TraceFormat,
    number: u64,
    /// The part of the input's buffer that is the last returned line.
    lent: usize,
    /// A line that the input's buffer does not contain whole.
    gathered: Vec<u8>,
}

impl<R: BufRead> TraceLines<R> {
    pub fn new(input: R, format: TraceFormat) -> Self {
        Self { input, format, number: 0, lent: 0, gathered: Vec::new() }
    }

    /// The next line, without its end (LF or CR LF) and a byte order mark.
    pub fn next(&mut self) -> Result<Option<&[u8]>, TraceError> {
        self.input.consume(mem::take(&mut self.lent));
        self.number += 1;
        let read = |cause| unreadable(self.format, self.number, cause);
        let end = memchr(b'\n', fill(&mut self.input).map_err(read)?);
        if let Some(end) = end.filter(|end| *end <= LONGEST) {
            self.lent = end + 1;
            let buffer = self.input.fill_buf().map_err(read)?;
            let line = buffer.get(..end).unwrap_or(buffer);
            return Ok(Some(bare(line, self.number)));
        }
        let whole = self.gather()?;
        Ok(whole.then_some(bare(&self.gathered, self.number)))
    }

    /// Gathers a line piece by piece; false at the end of the trace.
    fn gather(&mut self) -> Result<bool, TraceError> {
        self.gathered.clear();
        loop {
            let buffer = fill(&mut self.input)
                .map_err(|cause| unreadable(self.format, self.number, cause))?;
            if buffer.is_empty() {
                if self.gathered.trim_ascii().is_empty() {
                    return Ok(false);
                }
                return Err(TraceError::Truncated {
                    format: self.format,
                    position: self.position(),
                });
            }
            let end = memchr(b'\n', buffer);
            let piece = buffer.get(..end.unwrap_or(buffer.len())).unwrap_or(buffer);
            if self.gathered.len() + piece.len() > LONGEST {
                self.gathered.extend(piece.iter().take(LONGEST));
                return Err(self.fault(TraceFault::new(
                    "it",
                    "a line of 64 KiB at most",
                    &self.gathered,
                )));
            }
            self.gathered.extend_from_slice(piece);
            let used = piece.len() + usize::from(end.is_some());
            self.input.consume(used);
            if end.is_some() {
                return Ok(true);
            }
        }
    }
}

impl<R> TraceLines<R> {
    /// The position of the last returned line.
    pub fn position(&self) -> Position {
        Position::Line(self.number)
    }

    /// The error for a fault in the last returned line.
    pub fn fault(&self, fault: TraceFault) -> TraceError {
        fault.at(self.format, self.position())
    }
}

fn unreadable(format: TraceFormat, line: u64, cause: io::Error) -> TraceError {
    TraceError::Read { format, position: Position::Line(line), cause }
}

fn bare(line: &[u8], number: u64) -> &[u8] {
    let line = if number == 1 { without_mark(line) } else { line };
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// A text without the byte order mark that some editors put first.
pub fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

/// The buffered bytes, at least one unless the input is at its end.
///
/// Interruptions by signals are retried.
pub fn fill<R: BufRead>(input: &mut R) -> io::Result<&[u8]> {
    while let Err(cause) = input.fill_buf() {
        if cause.kind() != ErrorKind::Interrupted {
            return Err(cause);
        }
    }
    input.fill_buf()
}
