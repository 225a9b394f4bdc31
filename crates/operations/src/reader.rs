//! Reads a log, and checks it line by line.

use std::collections::BTreeSet;
use std::io::BufRead;

use crate::error::{Fault, excerpt};
use crate::escape::unescape;
use crate::lines::{Line, Lines};
use crate::text::{Fields, number};
use crate::writer::{LONGEST_TITLE, MAGIC, VERSION};
use crate::{Entry, Handle, Header, LogError, Omission, Operation};

/// Reads a log: first [the entries](Self::next_entry), then [the operations](Self::next_operation).
///
/// After an error it continues with the next line, which is useless for a replay.
#[derive(Debug)]
pub struct Reader<R> {
    lines: Lines<R>,
    header: Header,
    section: Section,
    open: BTreeSet<Handle>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    Before,
    Operations,
    End,
}

impl<R: BufRead> Reader<R> {
    /// Reads the header.
    pub fn new(input: R) -> Result<Self, LogError> {
        let mut lines = Lines::new(input);
        first_line(&mut lines)?;
        let header = header(&mut lines)?;
        Ok(Self { lines, header, section: Section::Before, open: BTreeSet::new() })
    }

    /// The header of the log.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The next entry of the initial directory; `None` after the last.
    pub fn next_entry(&mut self) -> Result<Option<Entry>, LogError> {
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
    pub fn next_operation(&mut self) -> Result<Option<Operation>, LogError> {
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
    fn check_handle(&mut self, operation: &Operation) -> Result<(), Fault> {
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
        Err(Fault::new("the handle", expected, handle.to_string().as_bytes()))
    }

    fn nothing_more<T>(&mut self) -> Result<Option<T>, LogError> {
        let rest = match self.lines.next() {
            Ok(Line::End) => return Ok(None),
            Ok(Line::Whole(rest) | Line::Cut(rest) | Line::TooLong(rest)) => rest,
            Err(cause) => return Err(LogError::Read { line: self.lines.number(), cause }),
        };
        let fault = Fault::new("the line after the end", "nothing", rest);
        Err(fault.at(self.lines.number()))
    }
}

fn first_line<R: BufRead>(lines: &mut Lines<R>) -> Result<(), LogError> {
    let first = match lines.next() {
        Ok(Line::Whole(first) | Line::Cut(first) | Line::TooLong(first)) => first,
        Ok(Line::End) => b"",
        Err(cause) => return Err(LogError::Read { line: 1, cause }),
    };
    match first.strip_prefix(MAGIC.as_bytes()) {
        None => Err(LogError::NoLog { found: excerpt(first) }),
        Some(version) if version == VERSION.as_bytes() => Ok(()),
        Some(version) => Err(LogError::UnknownVersion { found: excerpt(version) }),
    }
}

fn header<R: BufRead>(lines: &mut Lines<R>) -> Result<Header, LogError> {
    let mut header = Header::default();
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

fn read_title(field: &[u8]) -> Result<String, Fault> {
    let is_plain = field.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' ');
    Some(field)
        .filter(|field| is_plain && field.len() <= LONGEST_TITLE)
        .and_then(unescape)
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .ok_or_else(|| Fault::new("the title", "escaped UTF-8 of at most 1024 bytes", field))
}

fn read_omission(line: &[u8]) -> Result<(Omission, u64), Fault> {
    let read = || {
        let mut fields = line.strip_prefix(b"left-out ")?.split(|byte| *byte == b' ');
        let name = fields.next()?;
        let omission = Omission::ALL.into_iter().find(|it| it.name().as_bytes() == name)?;
        let count = number(fields.next()?, 10)?;
        fields.next().is_none().then_some((omission, count))
    };
    read().ok_or_else(|| Fault::new("the line", "title, left-out or before", line))
}

fn whole<R: BufRead>(lines: &mut Lines<R>) -> Result<&[u8], LogError> {
    // The number of the line that is being read.
    let line = lines.number() + 1;
    match lines.next() {
        Ok(Line::Whole(bytes)) => Ok(bytes),
        Ok(Line::Cut(_) | Line::End) => Err(LogError::Truncated { line }),
        Ok(Line::TooLong(bytes)) => {
            Err(Fault::new("it", "a line of 128 KiB at most", bytes).at(line))
        }
        Err(cause) => Err(LogError::Read { line, cause }),
    }
}
