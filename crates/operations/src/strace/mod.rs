//! Turns strace's output into operations.
//!
//! strace(1) follows every process and supports every architecture and kernel. The program runs
//! slower, so times would be meaningless: only the operations and the order in which they ended are
//! recorded.
//!
//! # Assumptions
//!
//! The program starts in the recorded directory, with nothing in it open, and everything else it
//! uses is outside. Access through a symbolic link outside that leads into the directory is seen
//! only for opened files.
//!
//! # Processes
//!
//! A child may appear before the call that created it returns, and always does with vfork(2). Its
//! lines are put aside until then, because only the return value identifies its parent.

mod call;
mod files;
mod line;
mod names;
mod process;
mod session;
mod transfers;
mod waiting;

use std::io::{self, BufRead};

use thiserror::Error;

use crate::error::excerpt;
use crate::lines::{TextLine, TextLines};
use crate::{LeftOut, Omission, Operation, Tree};
use line::{ProcessEvent, StraceLine};
pub use session::ProgramStart;
use session::StraceSession;
use waiting::Waiting;

/// The required options of strace, except `-o FILE` and the program.
///
/// Strings are printed as `\xHH` (`-xx`), descriptors with their paths (`-y`), contents only as far
/// as an access control list needs (`-s 32`). Only calls on files and processes stop the program
/// (`--seccomp-bpf`). Failed calls are printed, too, because to omit them (`-z`) garbles the lines
/// of interrupted calls in version 6.1.
pub const STRACE_OPTIONS: [&str; 10] = [
    "-f",
    "--seccomp-bpf",
    "-q",
    "-y",
    "-xx",
    "-s",
    "32",
    "-e",
    "signal=none",
    "--trace=%file,%desc,%process,umask,sync,io_submit",
];

/// The maximum size of lines that cannot be processed yet.
const MOST_WAITING_BYTES: usize = 64 << 20;

/// Why strace's output cannot be read.
#[derive(Debug, Error)]
pub enum StraceError {
    /// The input failed.
    #[error("cannot read strace's output at line {line}: {cause}")]
    Read {
        /// The line, counted from 1.
        line: u64,
        /// The reader's own error.
        #[source]
        cause: io::Error,
    },
    /// A line is not one of strace's.
    #[error(
        "strace's output, line {line}: found {found}, expected a process's number and a call; \
         record it with the options that ssdlab uses"
    )]
    Malformed {
        /// The line, counted from 1.
        line: u64,
        /// The line, escaped and shortened.
        found: String,
    },
}

/// Converts strace's output to operations.
#[derive(Debug)]
pub struct StraceRecorder<R> {
    lines: TextLines<R>,
    session: StraceSession,
    waiting: Waiting,
    at_end: bool,
}

impl<R: BufRead> StraceRecorder<R> {
    /// Starts with the directory as it was before the program ran.
    pub fn new(input: R, setting: ProgramStart<'_>, before: Tree) -> Self {
        Self {
            lines: TextLines::new(input),
            session: StraceSession::new(setting, before),
            waiting: Waiting::default(),
            at_end: false,
        }
    }

    /// The next operation; `None` after the last.
    pub fn next_operation(&mut self) -> Result<Option<Operation>, StraceError> {
        loop {
            if let Some(operation) = self.session.take(self.at_end) {
                return Ok(Some(operation));
            }
            if self.at_end {
                return Ok(None);
            }
            self.step()?;
        }
    }

    /// The omissions so far.
    pub fn left_out(&self) -> &LeftOut {
        &self.session.left_out
    }

    /// The directory after the operations so far.
    pub fn tree(&self) -> &Tree {
        &self.session.tree
    }

    /// Processes a line.
    fn step(&mut self) -> Result<(), StraceError> {
        if let Some((number, line)) = self.waiting.next_adopted() {
            return self.line(number, &line);
        }
        let number = self.lines.number() + 1;
        let line = match self.lines.next() {
            Ok(TextLine::Whole(line)) => line.to_vec(),
            // strace itself was killed; the call may not have ended.
            Ok(TextLine::Cut(_) | TextLine::End) => {
                self.end();
                return Ok(());
            }
            Ok(TextLine::TooLong(line)) => {
                return Err(StraceError::Malformed { line: number, found: excerpt(line) });
            }
            Err(cause) => return Err(StraceError::Read { line: number, cause }),
        };
        self.line(number, &line)
    }

    fn line(&mut self, number: u64, text: &[u8]) -> Result<(), StraceError> {
        let Some(StraceLine { process, event }) = StraceLine::parse(text) else {
            return Err(StraceError::Malformed { line: number, found: excerpt(text) });
        };
        if !self.session.has_begun() {
            self.session.start(process);
        }
        match event {
            ProcessEvent::Nothing => {}
            ProcessEvent::SupersededBy(thread) => {
                if let Some(begun) = self.waiting.resume(thread) {
                    self.waiting.begin(process, &begun);
                }
                self.session.supersede(process, thread);
            }
            _ if !self.session.knows(process) => {
                self.waiting.put_aside(number, process, text);
                if self.waiting.bytes() > MOST_WAITING_BYTES {
                    self.give_up_parent();
                }
            }
            ProcessEvent::Call(call) => self.call(process, call),
            ProcessEvent::Unfinished(begun) => self.waiting.begin(process, begun),
            ProcessEvent::Resumed(rest) => {
                if let Some(mut call) = self.waiting.resume(process) {
                    call.extend_from_slice(rest);
                    self.call(process, &call);
                }
            }
            ProcessEvent::Exit => {
                self.waiting.resume(process);
                self.session.exit(process);
            }
        }
        Ok(())
    }

    fn call(&mut self, process: u64, call: &[u8]) {
        if let Some(child) = self.session.call(process, call) {
            self.waiting.adopt(child);
        }
    }

    /// Assumes that a process whose parent is unknown has nothing open.
    fn give_up_parent(&mut self) {
        if let Some(process) = self.waiting.orphan() {
            self.session.start(process);
            self.session.left_out.add(Omission::UnknownParent, 1);
            self.waiting.adopt(process);
        }
    }

    fn end(&mut self) {
        self.at_end = self.waiting.orphan().is_none();
        self.give_up_parent();
    }
}
