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
    /// `None` if the trace does not say: its format has no completions, or this one is absent.
    pub completed_ns: Option<u64>,
    /// The operation.
    pub kind: RequestKind,
    /// Its offset, in bytes from the start of the drive; 0 for a flush.
    ///
    /// The sum of offset and length fits a `u64`.
    pub offset_bytes: u64,
    /// Its length, in bytes: 0 for a flush, otherwise at least 1.
    pub length_bytes: u64,
    /// Further properties.
    pub flags: Flags,
    /// Whose bytes it carries; only ssdlab's own log has it.
    pub origin: Option<WriteOrigin>,
}

/// A request of which no more is known.
pub(crate) fn plain(
    submitted_ns: u64,
    kind: RequestKind,
    offset_bytes: u64,
    length_bytes: u64,
) -> Request {
    Request {
        submitted_ns,
        completed_ns: None,
        kind,
        offset_bytes,
        length_bytes,
        flags: Flags::empty(),
        origin: None,
    }
}

/// Whose bytes a write carries, as far as the kernel reports; the rest belong to files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct WriteOrigin {
    /// Bytes of directories and symbolic links.
    pub directory_bytes: u64,
    /// Bytes of the filesystem's own structures.
    pub metadata_bytes: u64,
}

/// What a request asks of the drive. The order is that of their numbers in the request log, so it
/// must not change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Kind")]
pub enum RequestKind {
    /// Return data.
    Read,
    /// Store data.
    Write,
    /// Make all earlier writes durable.
    Flush,
    /// Discard data that the host no longer needs. Includes secure discards.
    Discard,
    /// Make a range read as zeroes, without transferring them.
    WriteZeroes,
}

impl RequestKind {
    /// Every kind, in the order of their declaration.
    pub const ALL: [Self; 5] =
        [Self::Read, Self::Write, Self::Flush, Self::Discard, Self::WriteZeroes];

    /// Its name for users and programs.
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
    /// `FUA` and `PREFLUSH` ask for durability. They stay flags, so that a request here is one
    /// request in the trace. For a drive that supports neither, a replay must flush before a
    /// request with `PREFLUSH` and after one with `FUA`. Linux does this above the drive: no
    /// *issued* request has `PREFLUSH`, and one with `FUA` went to a drive that supports it.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
    pub struct Flags: u16 {
        /// Something waits for it.
        const SYNC = 1 << 0;
        /// It carries filesystem metadata.
        const METADATA = 1 << 1;
        /// It is complete only once its own data are durable (forced unit access).
        const FUA = 1 << 2;
        /// All requests completed before it are made durable first.
        const PREFLUSH = 1 << 3;
        /// It is read-ahead.
        const READAHEAD = 1 << 4;
    }
}

/// The meaning of an RWBS field: [`Flags::PREFLUSH`] if `F` comes first, the kind, and other flags.
pub fn operation(rwbs: &[u8]) -> (Option<RequestKind>, Flags) {
    let (mut flags, operation) = match rwbs.strip_prefix(b"F") {
        Some(rest) => (Flags::PREFLUSH, rest),
        None => (Flags::empty(), rwbs),
    };
    let (kind, letters) = match operation {
        [b'R', letters @ ..] => (Some(RequestKind::Read), letters),
        [b'W', b'Z', letters @ ..] => (Some(RequestKind::WriteZeroes), letters),
        [b'W', letters @ ..] => (Some(RequestKind::Write), letters),
        [b'D', letters @ ..] => (Some(RequestKind::Discard), letters),
        [b'N', letters @ ..] => (None, letters),
        _ => (None, operation),
    };
    for letter in letters {
        flags |= match letter {
            b'F' => Flags::FUA,
            b'A' => Flags::READAHEAD,
            b'S' => Flags::SYNC,
            b'M' => Flags::METADATA,
            _ => Flags::empty(),
        };
    }
    (kind, flags)
}
