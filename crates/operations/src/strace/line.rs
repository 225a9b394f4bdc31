//! Splits a line of strace's output, before its call is parsed.

use memchr::memmem;

use crate::text::number;

/// A line about a process.
#[derive(Debug, PartialEq, Eq)]
pub struct StraceLine<'a> {
    /// The process, or the thread.
    pub process: u64,
    /// What it did.
    pub event: ProcessEvent<'a>,
}

/// What a line says about a process.
#[derive(Debug, PartialEq, Eq)]
pub enum ProcessEvent<'a> {
    /// A call from its name to its result.
    Call(&'a [u8]),
    /// The beginning of a call that was interrupted by others.
    Unfinished(&'a [u8]),
    /// The rest of such a call.
    Resumed(&'a [u8]),
    /// It ended.
    Exit,
    /// Another thread executed a program and continues under this process's number.
    SupersededBy(u64),
    /// A signal, or what strace says about itself.
    Nothing,
}

impl<'a> StraceLine<'a> {
    /// The line, if it is one of strace's.
    pub fn parse(line: &'a [u8]) -> Option<Self> {
        let blank = memchr::memchr(b' ', line)?;
        let (process, rest) = line.split_at_checked(blank)?;
        let event = event(rest.trim_ascii())?;
        Some(Self { process: number(process, 10)?, event })
    }
}

fn event(text: &[u8]) -> Option<ProcessEvent<'_>> {
    if let Some(text) = text.strip_prefix(b"+++ ") {
        if let Some(rest) = text.strip_prefix(b"superseded by execve in pid ") {
            return Some(ProcessEvent::SupersededBy(number(rest.strip_suffix(b" +++")?, 10)?));
        }
        let is_end = text.starts_with(b"exited") || text.starts_with(b"killed");
        return is_end.then_some(ProcessEvent::Exit);
    }
    if text.starts_with(b"--- ") || text.starts_with(b"???(") || text.starts_with(b"<detached") {
        return Some(ProcessEvent::Nothing);
    }
    if let Some(text) = text.strip_prefix(b"<... ") {
        let after = b" resumed>";
        let start = memmem::find(text, after)? + after.len();
        return text.get(start..).map(ProcessEvent::Resumed);
    }
    if let Some(begun) = text.strip_suffix(b"<unfinished ...>") {
        return Some(ProcessEvent::Unfinished(begun));
    }
    text.first()?.is_ascii_lowercase().then_some(ProcessEvent::Call(text))
}
