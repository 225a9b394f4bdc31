//! Reads a log, and checks it line by line.

use std::collections::BTreeSet;
use std::io::BufRead;

use crate::error::{LineFault, excerpt};
use crate::lines::{TextLine, TextLines};
use crate::text::unescape;
use crate::text::{Fields, number};
use crate::writer::{LONGEST_TITLE, MAGIC, VERSION};
use crate::{Entry, Handle, LogHeader, Omission, Operation, OperationLogError};

/// Reads a log: first [the entries](Self::next_entry), then [the operations](Self::next_operation).
///
/// After an error it continues with the next line, which is useless for a replay.
#[derive(Debug)]
pub struct LogReader<R> {
    lines: TextLines<R>,
    header: LogHeader,
    section: Section,
    open: BTreeSet<Handle>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    Before,
    Operations,
    End,
}

impl<R: BufRead> LogReader<R> {
    /// Reads the header.
    pub fn new(input: R) -> Result<Self, OperationLogError> {
        let mut lines = TextLines::new(input);
        first_line(&mut lines)?;
        let header = header(&mut lines)?;
        Ok(Self { lines, header, section: Section::Before, open: BTreeSet::new() })
    }

    pub fn header(&self) -> &LogHeader {
        &self.header
    }

    /// The next entry of the initial directory; `None` after the last.
    pub fn next_entry(&mut self) -> Result<Option<Entry>, OperationLogError> {
        if self.section != Section::Before {
            return Ok(None);
        }
        let entry = match whole(&mut self.lines)? {
            b"operations" => None,
            line => Some(Fields::new(line).entry()),
        };
        if entry.is_none() {
            self.section = Section::Operations;
        }
        entry.transpose().map_err(|fault| fault.at(self.lines.number()))
    }

    /// The next operation; `None` after the last. Unread entries are skipped.
    pub fn next_operation(&mut self) -> Result<Option<Operation>, OperationLogError> {
        while self.next_entry()?.is_some() {}
        if self.section == Section::End {
            return Ok(None);
        }
        let operation = match whole(&mut self.lines)? {
            b"end" => None,
            line => Some(Fields::new(line).operation()),
        };
        let Some(operation) = operation else {
            self.section = Section::End;
            return self.nothing_more();
        };
        operation
            .and_then(|operation| self.check_handle(&operation).map(|()| Some(operation)))
            .map_err(|fault| fault.at(self.lines.number()))
    }

    /// Checks that a handle is open or free, as required.
    fn check_handle(&mut self, operation: &Operation) -> Result<(), LineFault> {
        let (handle, is_right, expected) = match (operation, operation.handle()) {
            (Operation::Open { handle, .. }, _) => {
                (*handle, self.open.insert(*handle), "a free one")
            }
            (Operation::Close { handle }, _) => (*handle, self.open.remove(handle), "an open one"),
            (_, Some(handle)) => (handle, self.open.contains(&handle), "an open one"),
            (_, None) => return Ok(()),
        };
        if is_right {
            return Ok(());
        }
        Err(LineFault::new("the handle", expected, handle.to_string().as_bytes()))
    }

    fn nothing_more<T>(&mut self) -> Result<Option<T>, OperationLogError> {
        let rest = match self.lines.next() {
            Ok(TextLine::End) => return Ok(None),
            Ok(TextLine::Whole(rest) | TextLine::Cut(rest) | TextLine::TooLong(rest)) => rest,
            Err(cause) => return Err(OperationLogError::Read { line: self.lines.number(), cause }),
        };
        let fault = LineFault::new("the line after the end", "nothing", rest);
        Err(fault.at(self.lines.number()))
    }
}

fn first_line<R: BufRead>(lines: &mut TextLines<R>) -> Result<(), OperationLogError> {
    let first = match lines.next() {
        Ok(TextLine::Whole(first) | TextLine::Cut(first) | TextLine::TooLong(first)) => first,
        Ok(TextLine::End) => b"",
        Err(cause) => return Err(OperationLogError::Read { line: 1, cause }),
    };
    match first.strip_prefix(MAGIC.as_bytes()) {
        None => Err(OperationLogError::NoLog { found: excerpt(first) }),
        Some(version) if version == VERSION.as_bytes() => Ok(()),
        Some(version) => Err(OperationLogError::UnknownVersion { found: excerpt(version) }),
    }
}

fn header<R: BufRead>(lines: &mut TextLines<R>) -> Result<LogHeader, OperationLogError> {
    let mut header = LogHeader::default();
    loop {
        let line = whole(lines)?;
        if line == b"before" {
            return Ok(header);
        }
        let read = match line.strip_prefix(b"title ") {
            Some(title) => read_title(title).map(|title| header.title = title),
            None => read_omission(line).map(|(what, count)| header.left_out.add(what, count)),
        };
        read.map_err(|fault| fault.at(lines.number()))?;
    }
}

fn read_title(field: &[u8]) -> Result<String, LineFault> {
    let is_plain = field.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' ');
    Some(field)
        .filter(|field| is_plain && field.len() <= LONGEST_TITLE)
        .and_then(unescape)
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .ok_or_else(|| LineFault::new("the title", "escaped UTF-8 of at most 1024 bytes", field))
}

fn read_omission(line: &[u8]) -> Result<(Omission, u64), LineFault> {
    let read = || {
        let mut fields = line.strip_prefix(b"left-out ")?.split(|byte| *byte == b' ');
        let name = fields.next()?;
        let omission = Omission::ALL.into_iter().find(|it| it.name().as_bytes() == name)?;
        let count = number(fields.next()?, 10)?;
        fields.next().is_none().then_some((omission, count))
    };
    read().ok_or_else(|| LineFault::new("the line", "title, left-out or before", line))
}

fn whole<R: BufRead>(lines: &mut TextLines<R>) -> Result<&[u8], OperationLogError> {
    // The number of the line that is being read.
    let line = lines.number() + 1;
    match lines.next() {
        Ok(TextLine::Whole(bytes)) => Ok(bytes),
        Ok(TextLine::Cut(_) | TextLine::End) => Err(OperationLogError::Truncated { line }),
        Ok(TextLine::TooLong(bytes)) => {
            Err(LineFault::new("it", "a line of 128 KiB at most", bytes).at(line))
        }
        Err(cause) => Err(OperationLogError::Read { line, cause }),
    }
}
