//! What this user's caches hold, and what clearing them has removed.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

/// An entry of a cache.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Entry")]
pub struct CacheEntry {
    /// The kind of entry.
    pub kind: EntryKind,
    /// Its path.
    pub path: PathBuf,
    /// The settings an aged filesystem was made from; absent if it is unfinished or damaged.
    pub made_from: Option<serde_json::Value>,
    /// Its size on disk.
    pub size_bytes: u64,
    /// When it was last used, in seconds since 1970.
    pub used_s: u64,
    /// Whether it is being used or made. For a kernel this is unknown, and false.
    pub is_in_use: bool,
}

/// The kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Kind")]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    /// An aged filesystem.
    Aged,
    /// A lab kernel.
    Kernel,
    /// A folder in which lab kernels are built: left by a build that has not ended, or kept by
    /// `ssdlab judge`.
    KernelBuild,
}

/// The outcome of a removal.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct RemovalSummary {
    /// The folders that were removed.
    pub removed: usize,
    /// Their disk usage.
    pub removed_bytes: u64,
    /// The number in use, which were kept.
    pub in_use: usize,
}

impl RemovalSummary {
    /// Counts an entry that was removed, or else is in use.
    pub fn count(&mut self, entry: &CacheEntry, is_removed: bool) {
        if is_removed {
            self.removed += 1;
            self.removed_bytes += entry.size_bytes;
        } else {
            self.in_use += 1;
        }
    }
}
