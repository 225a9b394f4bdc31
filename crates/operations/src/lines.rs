//! Reads lines one at a time, with a bound on their length.

use std::io::{self, BufRead, ErrorKind};

use memchr::memchr;

/// The maximum length of a line, in bytes: strace(1) prints two names of 4095 bytes and two
/// directories of that length, at four characters per byte.
const LONGEST: usize = 128 << 10;

#[derive(Debug)]
pub struct TextLines<R> {
    input: R,
    number: u64,
    line: Vec<u8>,
    /// Whether the end of the last line was not read, because the line is too long.
    has_rest: bool,
}

/// The next line of a text.
pub enum TextLine<'a> {
    /// A line, without its end.
    Whole(&'a [u8]),
    /// A last line without an end.
    Cut(&'a [u8]),
    /// The first bytes of a line that is too long.
    TooLong(&'a [u8]),
    /// Nothing.
    End,
}

impl<R: BufRead> TextLines<R> {
    pub fn new(input: R) -> Self {
        Self { input, number: 0, line: Vec::new(), has_rest: false }
    }

    /// The number of the last returned line, counted from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    pub fn next(&mut self) -> io::Result<TextLine<'_>> {
        if self.has_rest {
            self.input.skip_until(b'\n')?;
            self.has_rest = false;
        }
        self.line.clear();
        self.number += 1;
        loop {
            let buffer = match self.input.fill_buf() {
                Ok(buffer) => buffer,
                Err(cause) if cause.kind() == ErrorKind::Interrupted => continue,
                Err(cause) => return Err(cause),
            };
            if buffer.is_empty() {
                return Ok(if self.line.is_empty() {
                    TextLine::End
                } else {
                    TextLine::Cut(&self.line)
                });
            }
            let end = memchr(b'\n', buffer);
            let (piece, _) = buffer.split_at(end.unwrap_or(buffer.len()));
            let room = LONGEST - self.line.len();
            if piece.len() > room {
                self.line.extend(piece.iter().take(room));
                self.has_rest = true;
                return Ok(TextLine::TooLong(&self.line));
            }
            self.line.extend_from_slice(piece);
            let used = piece.len() + usize::from(end.is_some());
            self.input.consume(used);
            if end.is_some() {
                return Ok(TextLine::Whole(&self.line));
            }
        }
    }
}
