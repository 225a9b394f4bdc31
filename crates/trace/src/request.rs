//! Defines a request: what was asked of a drive, and when.

use bitflags::bitflags;
use schemars::JsonSchema;
use serde::Serialize;

/// One request to a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Request {
    /// When it was submitted, in nanoseconds since the first request of the trace.
    pub submitted_ns: u64,
    /// When it was completed, on the same clock and never before it was submitted.
    ///
    /// Only MSR Cambridge traces and ssdlab's own log say so.
    pub completed_ns: Option<u64>,
    /// What is asked.
    pub kind: Kind,
    /// Where it begins, in bytes from the start of the drive; 0 for a flush.
    ///
    /// The sum of offset and length fits a `u64`.
    pub offset_bytes: u64,
    /// How long it is, in bytes: 0 for a flush, at least 1 for all else.
    pub length_bytes: u64,
    /// What else the trace says about it.
    pub flags: Flags,
    /// Whose bytes it carries; only ssdlab's own log says so.
    pub origin: Option<Origin>,
}

/// Whose bytes a write carries, as far as the kernel told; the rest are of files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Origin {
    /// Of directories and symbolic links.
    pub directory_bytes: u64,
    /// Of the filesystem's own structures.
    pub metadata_bytes: u64,
}

/// What a request asks of the drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Return data.
    Read,
    /// Store data.
    Write,
    /// Make durable all that was written before.
    Flush,
    /// Forget data; the host no longer needs it. Secure discards are not told apart.
    Discard,
    /// Make a range read as zeroes, without sending them.
    WriteZeroes,
}

impl Kind {
    /// Every kind, in the order of their declaration.
    pub const ALL: [Self; 5] =
        [Self::Read, Self::Write, Self::Flush, Self::Discard, Self::WriteZeroes];

    /// What people and programs call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Flush => "flush",
            Self::Discard => "discard",
            Self::WriteZeroes => "write-zeroes",
        }
    }
}

bitflags! {
    /// How a request is to be served, beyond its kind.
    ///
    /// `FUA` and `PREFLUSH` ask for durability. They stay flags, and no request is split, so that a
    /// request here is a request in the trace. A drive that has neither flushes before a request
    /// with `PREFLUSH` and after one with `FUA`, and so must whoever replays to such a drive. Linux
    /// does this above the drive: of its *issued* requests none has `PREFLUSH`, and one with `FUA`
    /// went to a drive that has it.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
    pub struct Flags: u16 {
        /// Somebody waits for it.
        const SYNC = 1 << 0;
        /// It carries metadata of a filesystem.
        const METADATA = 1 << 1;
        /// It is complete only once its own data are durable (forced unit access).
        const FUA = 1 << 2;
        /// Before it, all that was completed earlier is made durable.
        const PREFLUSH = 1 << 3;
        /// It reads ahead of what was asked for.
        const READAHEAD = 1 << 4;
    }
}
