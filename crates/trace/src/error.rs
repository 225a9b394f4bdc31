//! Defines what can be wrong with a trace, and where.

use std::fmt;
use std::io;

use thiserror::Error;

use crate::{TraceFormat, TraceStage};

/// Why a trace cannot be read any further, or written.
#[derive(Debug, Error)]
pub enum TraceError {
    /// The content fits no format.
    #[error(
        "the trace begins with {beginning}, which matches none of the known formats ({}); \
         decompress it if it is compressed, or name its format",
        TraceFormat::names()
    )]
    UnknownFormat {
        /// The first bytes, escaped.
        beginning: String,
    },
    #[error(
        "the trace is one of system calls (strace), not of requests to a drive: record the \
         requests with blktrace, or the program's operations on files with `ssdlab record`, for a \
         plan to replay"
    )]
    SystemCalls,
    /// No format has this name.
    #[error("{name:?} is not a trace format; choose one of: {}", TraceFormat::names())]
    UnknownName {
        /// The name that was given.
        name: String,
    },
    /// The trace has an unknown version.
    #[error(
        "the {format} trace has version {found}; the known version is {known}: use a newer ssdlab, \
         or convert it"
    )]
    UnknownVersion {
        /// The trace's format.
        format: TraceFormat,
        /// The version it has.
        found: u32,
        /// The versions that can be read.
        known: &'static str,
    },
    /// The input failed before the format was known.
    #[error("cannot read the trace: {cause}")]
    Unreadable {
        /// The reader's own error.
        #[source]
        cause: io::Error,
    },
    /// The input failed.
    #[error("cannot read the {format} trace at {position}: {cause}")]
    Read {
        /// The trace's format.
        format: TraceFormat,
        /// The line or record that was being read.
        position: Position,
        /// The reader's own error.
        #[source]
        cause: io::Error,
    },
    /// A line or record is malformed.
    #[error(
        "{format} trace, {position}: {what} is {found}, not {expected}; repair the trace there, or \
         truncate it before that"
    )]
    Malformed {
        /// The trace's format.
        format: TraceFormat,
        /// The line or record.
        position: Position,
        /// Which part of it.
        what: &'static str,
        /// What that part may be.
        expected: &'static str,
        /// What it is, escaped and shortened.
        found: String,
    },
    /// The trace ends in the middle of a line or record, as after a full disk.
    ///
    /// Every request before that was read. A last line without its line end counts as truncated,
    /// because a truncated number looks like a complete one.
    #[error(
        "the {format} trace is truncated at {position}; everything before that was read: continue \
         without the rest, or record the trace again"
    )]
    Truncated {
        /// The trace's format.
        format: TraceFormat,
        /// The incomplete line or record.
        position: Position,
    },
    /// The trace holds requests to several drives.
    #[error("the trace has requests to {first:?} and to {second:?}: choose one of its drives")]
    SeveralDrives {
        /// The first drive, as the trace names it.
        first: String,
        /// Another one.
        second: String,
    },
    /// The trace has requests, but none to the drive that was chosen.
    #[error("the trace has no requests to {wanted:?}, but to {found:?}: choose one of its drives")]
    NoSuchDrive {
        /// The drive that was chosen.
        wanted: String,
        /// The first drive in the trace.
        found: String,
    },
    /// The trace has events, but none of the stage that was chosen.
    #[error(
        "the trace has no {wanted} requests, but {others} {}: read those instead",
        wanted.other()
    )]
    NoneAtStage {
        /// The stage that was chosen.
        wanted: TraceStage,
        /// How many events of the other stage there are.
        others: u64,
    },
    /// The output failed.
    #[error("cannot write the request log: {cause}; what was written before can be read")]
    Write {
        /// The writer's own error.
        #[source]
        cause: io::Error,
    },
    /// A request does not fit the request log.
    #[error("cannot log a request: {what} is {found}, not {expected}; split or correct it")]
    Unwritable {
        /// Which part of the request.
        what: &'static str,
        /// What that part may be.
        expected: &'static str,
        found: String,
    },
}

/// A place in a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// A line of a text format, counted from 1.
    Line(u64),
    /// A record of a binary format.
    Record {
        /// Which one, counted from 1; 0 is the header.
        record: u64,
        /// Where it begins, in bytes from the start of the trace.
        offset_bytes: u64,
    },
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Record { record: 0, .. } => write!(f, "the header"),
            Self::Record { record, offset_bytes } => {
                write!(f, "record {record} (byte {offset_bytes})")
            }
        }
    }
}

/// What is wrong with a line or record, without its position.
#[derive(Debug, PartialEq, Eq)]
pub struct TraceFault {
    pub what: &'static str,
    pub expected: &'static str,
    pub found: String,
}

impl TraceFault {
    pub fn new(what: &'static str, expected: &'static str, found: &[u8]) -> Self {
        Self { what, expected, found: excerpt(found) }
    }

    pub fn number(what: &'static str, expected: &'static str, found: u64) -> Self {
        Self { what, expected, found: found.to_string() }
    }

    pub fn at(self, format: TraceFormat, position: Position) -> TraceError {
        let Self { what, expected, found } = self;
        TraceError::Malformed { format, position, what, expected, found }
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
