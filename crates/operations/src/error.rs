//! Defines the errors of reading and writing logs.

use std::io;

use thiserror::Error;

/// Why a log cannot be read any further, or written.
#[derive(Debug, Error)]
pub enum OperationLogError {
    /// The input failed.
    #[error("cannot read the operation log at line {line}: {cause}")]
    Read {
        /// The line that was being read, counted from 1.
        line: u64,
        /// The reader's own error.
        #[source]
        cause: io::Error,
    },
    /// It is not an operation log.
    #[error(
        "the operation log begins with {found}, not with \"ssdlab operation log\"; decompress it \
         if it is compressed, or record one"
    )]
    NoLog {
        /// The first bytes, escaped.
        found: String,
    },
    #[error("the operation log has version {found}; the known version is 1: use a newer ssdlab")]
    UnknownVersion {
        /// The version it has, escaped.
        found: String,
    },
    /// A line is malformed.
    #[error("operation log, line {line}: {what} is {found}, not {expected}; record it again")]
    Malformed {
        /// The line, counted from 1.
        line: u64,
        /// Which part of it.
        what: &'static str,
        /// What that part may be.
        expected: &'static str,
        /// What it is, escaped and shortened.
        found: String,
    },
    /// The log is truncated, for example because the disk was full.
    #[error("the operation log is cut short at line {line}; record it again")]
    Truncated {
        /// The incomplete line, counted from 1.
        line: u64,
    },
    /// The output failed.
    #[error("cannot write the operation log: {cause}; make room, and record it again")]
    Write {
        /// The writer's own error.
        #[source]
        cause: io::Error,
    },
}

/// What is wrong with a line, without its number.
#[derive(Debug, PartialEq, Eq)]
pub struct LineFault {
    pub what: &'static str,
    pub expected: &'static str,
    pub found: String,
}

impl LineFault {
    pub fn new(what: &'static str, expected: &'static str, found: &[u8]) -> Self {
        Self { what, expected, found: excerpt(found) }
    }

    pub fn at(self, line: u64) -> OperationLogError {
        let Self { what, expected, found } = self;
        OperationLogError::Malformed { line, what, expected, found }
    }
}

/// Bytes for display: quoted, escaped, and only the first few.
pub fn excerpt(bytes: &[u8]) -> String {
    const MOST_BYTES: usize = 48;
    if bytes.is_empty() {
        return "nothing".to_owned();
    }
    let shown = bytes.get(..MOST_BYTES).unwrap_or(bytes);
    let more = if shown.len() < bytes.len() { "..." } else { "" };
    format!("\"{}\"{more}", shown.escape_ascii())
}
