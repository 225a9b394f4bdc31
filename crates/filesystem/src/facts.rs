//! Facts about a filesystem as the labs make it: limits and features, each with its source, and for
//! some the expected result of a check.

use super::{Call, Filesystem};

/// Limits and features, as their sources state them.
#[derive(Debug, Clone, Copy)]
pub struct Facts {
    /// The longest name of a file.
    pub longest_name: Limit,
    /// The largest file, as the kernel lets it be extended.
    pub largest_file: Limit,
    /// Whether that file can be tried: where holes are, extending it writes next to nothing.
    pub has_holes: bool,
    /// The largest filesystem.
    pub largest_volume: Limit,
    /// What is protected by checksums.
    pub checksums: Feature,
    /// Whether states can be kept.
    pub snapshots: Feature,
    /// Whether one filesystem can be on several devices, mirrored or striped.
    pub devices: Feature,
    /// Whether it compresses.
    pub compression: Feature,
    /// What makes it whole after a crash.
    pub journal: Feature,
    /// Whether it tells its device what is free.
    pub discard: Feature,
    /// Whether files can share their blocks.
    pub reflink: Feature,
    /// Whether it encrypts.
    pub encryption: Feature,
}

/// A limit in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// The most it takes; `u128::MAX` stands for one more than that, 0 for no statement.
    pub bytes: u128,
    /// Who states it.
    pub source: &'static str,
}

/// A feature in a few words, the first of which is `no` where it is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Feature {
    /// What there is.
    pub says: &'static str,
    /// Who states it.
    pub source: &'static str,
}

/// How a snapshot is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Snapshot {
    /// Of the root directory; the call ends with the name of the new one in it.
    Directory(Call),
    /// Of the filesystem on a device, which the call ends with.
    Device(Call),
    /// Of a pool; the call ends with its name, an @ and the snapshot's.
    Pool(Call),
}

impl Snapshot {
    /// The call.
    #[must_use]
    pub fn call(&self) -> Call {
        match self {
            Self::Directory(call) | Self::Device(call) | Self::Pool(call) => *call,
        }
    }
}

/// Names of what is checked, in records.
pub const LONGEST_NAME: &str = "longest_name";
/// See [`LONGEST_NAME`].
pub const LARGEST_FILE: &str = "largest_file";
/// See [`LONGEST_NAME`].
pub const REFLINK: &str = "reflink";
/// See [`LONGEST_NAME`].
pub const SNAPSHOTS: &str = "snapshots";
/// Who inherits the attribute A of chattr(1) from the directory above; where it is set.
pub const NO_ATIME_INHERITED: &str = "no_atime_inherited_by";

/// What a check finds of a feature that is there, and of one that is not.
pub const WORKS: &str = "works";
/// See [`WORKS`].
pub const REFUSED: &str = "refused";

/// What a check finds of a limit.
#[must_use]
pub fn limit_found(bytes: u64) -> String {
    format!("{bytes} bytes")
}

/// The limit of Linux on offsets in files, 2^63 - 1.
pub(super) const OFFSETS: u128 = i64::MAX as u128;

pub(super) const fn limit(bytes: u128, source: &'static str) -> Limit {
    Limit { bytes, source }
}

pub(super) const fn feature(says: &'static str, source: &'static str) -> Feature {
    Feature { says, source }
}

impl Feature {
    /// Whether it is there.
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.says.split([' ', ',', ':']).next() != Some("no")
    }
}

impl Filesystem {
    /// What a check of each fact that can be checked must find.
    #[must_use]
    pub fn stated(&self) -> Vec<(&'static str, String)> {
        let Facts { longest_name, largest_file, has_holes, reflink, .. } = self.facts;
        let limit = |limit: Limit| limit_found(u64::try_from(limit.bytes).unwrap_or(u64::MAX));
        let works = |is_there| if is_there { WORKS } else { REFUSED }.to_owned();
        let snapshots = self.snapshot.map(|_| (SNAPSHOTS, works(true)));
        let largest = has_holes.then(|| (LARGEST_FILE, limit(largest_file)));
        [(LONGEST_NAME, limit(longest_name)), (REFLINK, works(reflink.is_there()))]
            .into_iter()
            .chain(largest)
            .chain(snapshots)
            .collect()
    }
}
