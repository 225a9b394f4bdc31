//! Limits and features of a filesystem as the labs make it, each with its source, and for some the
//! expected result of a check.

use super::MkfsCall;

/// Limits and features, as stated by their sources.
#[derive(Debug, Clone, Copy)]
pub struct Facts {
    /// The longest file name.
    pub longest_name: Limit,
    /// The largest size to which the kernel lets a file be extended.
    pub largest_file: Limit,
    /// Whether files can have holes: only then can the largest file be tried, as extending one
    /// writes next to nothing.
    pub has_holes: bool,
    pub largest_volume: Limit,
    /// What checksums protect.
    pub checksums: Feature,
    /// Whether it has snapshots.
    pub snapshots: Feature,
    /// Whether one filesystem can span several devices, mirrored or striped.
    pub devices: Feature,
    /// Whether it compresses.
    pub compression: Feature,
    /// What makes it consistent after a crash.
    pub journal: Feature,
    /// Whether it discards free space.
    pub discard: Feature,
    /// Whether files can share blocks.
    pub reflink: Feature,
    /// Whether it encrypts.
    pub encryption: Feature,
}

/// A limit in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// The maximum; `u128::MAX` stands for 2^128, 0 for unknown.
    pub bytes: u128,
    /// The source of the statement.
    pub source: &'static str,
}

/// A feature in a few words; the first is `no` if the filesystem lacks it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Feature {
    pub says: &'static str,
    /// The source of the statement.
    pub source: &'static str,
}

/// How a snapshot is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SnapshotSupport {
    /// Of the root directory; the snapshot's name in it is appended to the call.
    Directory(MkfsCall),
    /// Of the filesystem on a device, which is appended to the call.
    Device(MkfsCall),
    /// Of a pool; `POOL@SNAPSHOT` is appended to the call.
    Pool(MkfsCall),
}

impl SnapshotSupport {
    pub fn call(&self) -> MkfsCall {
        match self {
            Self::Directory(call) | Self::Device(call) | Self::Pool(call) => *call,
        }
    }
}

/// The names of checked features in records.
pub const LONGEST_NAME: &str = "longest_name";
/// See [`LONGEST_NAME`].
pub const LARGEST_FILE: &str = "largest_file";
/// See [`LONGEST_NAME`].
pub const REFLINK: &str = "reflink";
/// See [`LONGEST_NAME`].
pub const SNAPSHOTS: &str = "snapshots";
/// The files that inherit the attribute A of chattr(1) from their directory, if the lab sets it.
pub const NO_ATIME_INHERITED: &str = "no_atime_inherited_by";

/// What a check reports for a feature that exists, and for one that does not.
pub const WORKS: &str = "works";
/// See [`WORKS`].
pub const REFUSED: &str = "refused";

/// What a check reports for a limit.
pub fn limit_found(bytes: u64) -> String {
    format!("{bytes} bytes")
}

/// Linux's limit on file offsets, 2^63 - 1.
pub(super) const OFFSETS: u128 = i64::MAX as u128;

pub(super) const fn limit(bytes: u128, source: &'static str) -> Limit {
    Limit { bytes, source }
}

pub(super) const fn feature(says: &'static str, source: &'static str) -> Feature {
    Feature { says, source }
}

impl Feature {
    /// Whether the filesystem has it.
    pub fn is_there(&self) -> bool {
        self.says.split([' ', ',', ':']).next() != Some("no")
    }
}
