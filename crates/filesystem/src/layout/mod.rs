//! Where a filesystem keeps what on its device, as its own read-only tools tell.
//!
//! A write request is known by its place and by how many of its bytes are the filesystem's own.
//! What they are (a journal, inode tables, bitmaps) follows from where they lie. This room names
//! the tools and reads their text; it runs nothing, so that every format is tested with real text.

mod answer;
pub(super) mod btrfs;
pub(super) mod ext;
pub(super) mod f2fs;
pub(super) mod jfs;
pub(super) mod nilfs2;
pub(super) mod reiserfs;
pub(super) mod xfs;

pub use answer::LayoutFault;

use serde::{Deserialize, Serialize};

use super::Call;

/// What a block of a filesystem holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Kind {
    /// Contents of files.
    Data,
    /// A journal or log that is replayed after a crash, its map included.
    Journal,
    /// Inodes.
    Inode,
    /// Directories, and what maps blocks or attributes to inodes: extents, indirect blocks.
    Directory,
    /// What is free and what is taken: bitmaps, trees of free extents, maps of segments or nodes.
    Allocation,
    /// Superblocks, descriptors of groups, checkpoints, and their copies.
    Superblock,
    /// Trees or logs that hold metadata of every kind and never overwrite it.
    CowMetadata,
    /// The filesystem's own, and its layout does not tell what.
    Unattributed,
}

impl Kind {
    /// Every kind, in the order tables show them.
    pub const ALL: [Self; 8] = [
        Self::Data,
        Self::Journal,
        Self::Inode,
        Self::Directory,
        Self::Allocation,
        Self::Superblock,
        Self::CowMetadata,
        Self::Unattributed,
    ];

    /// Its name in records.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::Journal => "journal",
            Self::Inode => "inode",
            Self::Directory => "directory",
            Self::Allocation => "allocation",
            Self::Superblock => "superblock",
            Self::CowMetadata => "cow_metadata",
            Self::Unattributed => "unattributed",
        }
    }
}

/// A range of a device that holds one kind of block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Area {
    /// Where it begins, in bytes from the start of the device.
    pub offset_bytes: u64,
    /// How long it is.
    pub length_bytes: u64,
    /// What it holds, whoever writes there.
    pub kind: Kind,
}

impl Area {
    /// `count` blocks from `first` on; an end beyond 2^64 is cut there, where no device reaches.
    fn of_blocks(first: u64, count: u64, block_bytes: u64, kind: Kind) -> Self {
        let offset_bytes = first.saturating_mul(block_bytes);
        Self { offset_bytes, length_bytes: count.saturating_mul(block_bytes), kind }
    }

    fn end_bytes(&self) -> u64 {
        self.offset_bytes.saturating_add(self.length_bytes)
    }
}

/// Where a filesystem keeps what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Told")]
pub struct Layout {
    /// Sorted and disjoint.
    areas: Vec<Area>,
    /// The filesystem's block, in bytes: what [`Probe::contents`] is asked about.
    pub block_bytes: u64,
    /// What the filesystem's own bytes outside all areas are.
    pub metadata: Kind,
    /// What bytes of files outside all areas are.
    pub files: Kind,
}

/// A layout as somebody else tells it: a guest, say.
#[derive(Deserialize)]
struct Told {
    areas: Vec<Area>,
    block_bytes: u64,
    metadata: Kind,
    files: Kind,
}

impl TryFrom<Told> for Layout {
    type Error = &'static str;

    fn try_from(told: Told) -> Result<Self, Self::Error> {
        let Told { areas, block_bytes, metadata, files } = told;
        if areas.windows(2).any(|pair| pair[0].end_bytes() > pair[1].offset_bytes) {
            return Err("the areas of a layout are not sorted, or overlap");
        }
        if block_bytes == 0 {
            return Err("the blocks of a layout have no bytes");
        }
        Ok(Self { areas, block_bytes, metadata, files })
    }
}

impl Layout {
    /// Where areas, which are sorted and disjoint, are all that is known of places.
    #[must_use]
    pub fn new(areas: Vec<Area>, block_bytes: u64, metadata: Kind) -> Self {
        Self { areas, block_bytes, metadata, files: Kind::Data }
    }

    /// Of a filesystem that does not say what it keeps where.
    #[must_use]
    pub fn unknown() -> Self {
        Self { files: Kind::Unattributed, ..Self::new(Vec::new(), 4096, Kind::Unattributed) }
    }

    /// The areas, sorted and disjoint.
    #[must_use]
    pub fn areas(&self) -> &[Area] {
        &self.areas
    }

    /// Splits a range of the device into what lies in one area each and what lies in none: the
    /// length of each part in bytes, none of them 0, in order.
    pub fn split(
        &self,
        offset_bytes: u64,
        length_bytes: u64,
    ) -> impl Iterator<Item = (u64, Option<Kind>)> {
        let end = offset_bytes.saturating_add(length_bytes);
        let mut at = offset_bytes;
        let first = self.areas.partition_point(|area| area.end_bytes() <= at);
        let mut areas = self.areas[first..].iter().peekable();
        std::iter::from_fn(move || {
            if at == end {
                return None;
            }
            let (until, kind) = match areas.peek() {
                Some(area) if area.offset_bytes <= at => (area.end_bytes(), Some(area.kind)),
                Some(area) => (area.offset_bytes, None),
                None => (end, None),
            };
            if kind.is_some() {
                areas.next();
            }
            let length = until.min(end) - at;
            at += length;
            Some((length, kind))
        })
    }
}

/// Tells from the start of a block, 32 bytes or more, what it is.
pub type Recognise = fn(&[u8]) -> Option<Kind>;

/// How a filesystem is asked for its layout. It is not mounted meanwhile.
#[derive(Debug)]
pub struct Probe {
    /// What is asked, in order.
    pub questions: &'static [Question],
    /// What is asked after that where it is not known whose each page was: it tells where metadata
    /// lay when the filesystem was left, and it moves.
    pub without_owners: &'static [Question],
    /// Whether what remains unmarked is of files then: the kernel marks metadata (`REQ_META`) or
    /// [`Self::without_owners`] finds it.
    pub marks_metadata: bool,
    /// Reads the answers, which are in the order of the questions.
    pub parse: fn(&[String]) -> Result<Layout, LayoutFault>,
    /// What is asked of the filesystem's own blocks outside all areas; `None` leaves them
    /// [`Layout::metadata`].
    pub contents: Option<Recognise>,
}

/// A question to a tool of the filesystem's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Question {
    /// The program; the device comes last. It writes nothing to the device.
    pub call: Call,
    /// What it is given on its standard input.
    pub input: &'static str,
    /// The file in its working directory that the answer is in; `None` if it prints the answer.
    pub answer_file: Option<&'static str>,
}

impl Question {
    const fn of(program: &'static str, arguments: &'static [&'static str]) -> Self {
        Self { call: Call { program, arguments }, input: "", answer_file: None }
    }
}

#[cfg(test)]
mod tests;
