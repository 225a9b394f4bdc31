//! Commands from the host to a drive, and their completions.

use crate::units::Nanos;

/// The smallest piece of the logical space that a command can name.
pub const SECTOR_BYTES: u64 = 512;

/// A stretch of the logical space; both numbers are multiples of [`SECTOR_BYTES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// The first byte.
    pub offset_bytes: u64,
    /// How many bytes; 0 is allowed and does nothing.
    pub length_bytes: u64,
}

impl Extent {
    /// The extent itself, if it names whole sectors that end within the capacity.
    #[inline]
    pub fn within(self, capacity_bytes: u64) -> Result<Self, Refusal> {
        let is_whole = |bytes: u64| bytes.is_multiple_of(SECTOR_BYTES);
        if !is_whole(self.offset_bytes) || !is_whole(self.length_bytes) {
            return Err(Refusal::Misaligned { extent: self });
        }
        match self.offset_bytes.checked_add(self.length_bytes) {
            Some(end) if end <= capacity_bytes => Ok(self),
            _ => Err(Refusal::OutOfRange { extent: self, capacity_bytes }),
        }
    }
}

/// How soon the host expects data to change. It matters only to drives that separate hot and cold
/// data, as with the streams of `NVMe`'s directives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Stream {
    /// Soon.
    Hot,
    /// Later than others.
    #[default]
    Cold,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    Read(Extent),
    Write(Extent, Stream),
    /// Writes, and is done only once its own data survive a power cut (forced unit access). A drive
    /// that has no such command performs it as a write followed by a flush.
    WriteFua(Extent),
    /// Makes everything written so far survive a power cut.
    Flush,
    /// Says that the contents are no longer needed.
    Discard(Extent),
    /// Zeroes the contents; they are unmapped if the drive honours discards.
    WriteZeroes(Extent),
}

impl Command {
    /// Its name in logs.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Read(_) => "read",
            Self::Write(..) => "write",
            Self::WriteFua(_) => "write-fua",
            Self::Flush => "flush",
            Self::Discard(_) => "discard",
            Self::WriteZeroes(_) => "write-zeroes",
        }
    }

    /// The stretch it names; none for a flush.
    pub const fn extent(&self) -> Option<Extent> {
        match *self {
            Self::Read(extent)
            | Self::Write(extent, _)
            | Self::WriteFua(extent)
            | Self::Discard(extent)
            | Self::WriteZeroes(extent) => Some(extent),
            Self::Flush => None,
        }
    }
}

/// The end of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// When the host learns that it is done.
    pub at: Nanos,
}

/// Why a drive refuses a command. Its state is unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It reaches beyond the drive's end.
    #[error(
        "bytes {} to {} are beyond the drive's end at {capacity_bytes}; the drive is too small for \
         this command",
        extent.offset_bytes, u128::from(extent.offset_bytes) + u128::from(extent.length_bytes)
    )]
    OutOfRange {
        /// What was asked for.
        extent: Extent,
        capacity_bytes: u64,
    },
    /// It covers sectors in part.
    #[error(
        "offset {} and length {} must be multiples of {SECTOR_BYTES} bytes",
        extent.offset_bytes, extent.length_bytes
    )]
    Misaligned {
        /// What was asked for.
        extent: Extent,
    },
    /// Too many blocks are worn out; the drive can only be read.
    #[error("the drive is worn out and read-only")]
    WornOut,
}
