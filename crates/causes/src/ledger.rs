//! The ledger: bytes by causer, kind and file, and what stands beside the sum.

use std::collections::BTreeMap;

use ssdlab_filesystem::BlockKind;

use crate::tasks::Causer;

/// The most rows: files beyond them lose their names, the smallest first.
const MOST_ROWS: usize = 200_000;

/// A file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Inode {
    /// The filesystem, by its place in the [`Watch`](crate::Watch).
    pub filesystem: usize,
    /// The tree it is in: a subvolume of btrfs; 0 elsewhere.
    pub tree: u64,
    pub number: u64,
    /// How often the number was freed during the recording before it was this file's.
    pub life: u32,
}

/// What written bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WrittenKind {
    /// Blocks of a filesystem, in kinds that every filesystem has.
    Block(BlockKind),
    /// btrfs's trees of files and directories.
    FileTree,
    ChecksumTree,
    ExtentTree,
    /// btrfs's trees of roots, chunks, devices, and free space.
    RootTrees,
    /// btrfs's tree of fsync(2)'s log.
    LogTree,
    Swap,
    /// Bytes of a device without a filesystem that is watched.
    Raw,
    /// Not known.
    Unknown,
}

impl WrittenKind {
    /// Its name in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            // Trees of XFS, too, and blocks of btrfs's that were split off.
            Self::Block(BlockKind::Unattributed) => "metadata",
            Self::Block(BlockKind::CowMetadata) => "other tree",
            Self::Block(kind) => kind.name(),
            Self::FileTree => "file tree",
            Self::ChecksumTree => "checksum tree",
            Self::ExtentTree => "extent tree",
            Self::RootTrees => "root trees",
            Self::LogTree => "log tree",
            Self::Swap => "swap",
            Self::Raw => "raw",
            Self::Unknown => "unknown",
        }
    }
}

impl From<BlockKind> for WrittenKind {
    fn from(kind: BlockKind) -> Self {
        Self::Block(kind)
    }
}

/// What a row is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LedgerKey {
    /// Who.
    pub causer: Causer,
    /// What.
    pub kind: WrittenKind,
    /// Which file, if it is one's and known.
    pub inode: Option<Inode>,
}

/// The numbers of a row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Amounts {
    /// Written to the device.
    pub bytes: u64,
    /// Asked for by write(2) and direct I/O, or dirtied by page where a filesystem reports no more.
    pub asked_bytes: u64,
    /// fsync(2) and fdatasync(2).
    pub syncs: u64,
    /// Discarded; not part of the sum.
    pub discarded_bytes: u64,
}

impl Amounts {
    /// Adds another row's.
    pub fn add(&mut self, other: &Self) {
        self.bytes += other.bytes;
        self.asked_bytes += other.asked_bytes;
        self.syncs += other.syncs;
        self.discarded_bytes += other.discarded_bytes;
    }
}

/// Commits of a journal that a causer waited for; outside the sum.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CommitsAsked {
    /// How many.
    pub commits: u64,
    /// The journal's bytes in them that were charged to others: an upper bound of what these
    /// commits cost others.
    pub carried_bytes: u64,
}

/// The rows of a device.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AttributedWrites {
    rows: BTreeMap<LedgerKey, Amounts>,
    /// Commits by who asked for them, where the filesystem reports them (ext3, ext4).
    pub commits: BTreeMap<Causer, CommitsAsked>,
}

impl AttributedWrites {
    pub fn rows(&self) -> impl Iterator<Item = (&LedgerKey, &Amounts)> {
        self.rows.iter()
    }

    /// The bytes of all rows.
    pub fn bytes(&self) -> u64 {
        self.rows.values().map(|amounts| amounts.bytes).sum()
    }

    /// A row, made if need be.
    pub(crate) fn row(&mut self, key: LedgerKey) -> &mut Amounts {
        if self.rows.len() >= MOST_ROWS && !self.rows.contains_key(&key) {
            self.fold();
        }
        self.rows.entry(key).or_default()
    }

    /// Folds the smaller half of the files into rows without a file.
    fn fold(&mut self) {
        let mut sizes: Vec<u64> = self.rows.values().map(|amounts| amounts.bytes).collect();
        let middle = sizes.len() / 2;
        let (_, median, _) = sizes.select_nth_unstable(middle);
        let median = *median;
        for (key, amounts) in std::mem::take(&mut self.rows) {
            let inode = key.inode.filter(|_| amounts.bytes > median);
            self.rows.entry(LedgerKey { inode, ..key }).or_default().add(&amounts);
        }
    }
}

#[cfg(test)]
mod tests;
