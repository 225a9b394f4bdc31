//! The on-disk layout of a filesystem, as reported by its own read-only tools.
//!
//! For a write request we know the offset and how many of its bytes are metadata. What kind (a
//! journal, inode tables, bitmaps) follows from where they lie. This room names the tools and
//! parses their output; it runs nothing, so that every format is tested with real output.

mod answer;
pub(super) mod btrfs;
pub(super) mod ext;
pub(super) mod f2fs;
mod inodes;
pub(super) mod jfs;
pub(super) mod nilfs2;
mod places;
pub(super) mod reiserfs;
pub(super) mod xfs;

use serde::{Deserialize, Serialize};

pub use inodes::inode_places;
pub use places::InodePlaces;

use super::MkfsCall;

/// What a block of a filesystem holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum BlockKind {
    /// File contents.
    Data,
    /// A journal or log that is replayed after a crash, including its block map.
    Journal,
    Inode,
    /// Directories, and what maps an inode's blocks or attributes: extents, indirect blocks.
    Directory,
    /// Allocation state: bitmaps, trees of free extents, maps of segments or nodes.
    Allocation,
    /// Superblocks, group descriptors, checkpoints, and their copies.
    Superblock,
    /// Trees or logs that hold metadata of every kind and never overwrite it in place.
    CowMetadata,
    /// Metadata of a kind that the layout does not reveal.
    Unattributed,
}

impl BlockKind {
    /// Every kind, in table order.
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
    /// Its start, in bytes from the start of the device.
    pub offset_bytes: u64,
    pub length_bytes: u64,
    /// What it holds, regardless of who writes there.
    pub kind: BlockKind,
}

impl Area {
    /// `count` blocks from `first` on; saturates at 2^64, beyond any device.
    fn of_blocks(first: u64, count: u64, block_bytes: u64, kind: BlockKind) -> Self {
        let offset_bytes = first.saturating_mul(block_bytes);
        Self { offset_bytes, length_bytes: count.saturating_mul(block_bytes), kind }
    }

    fn end_bytes(&self) -> u64 {
        self.offset_bytes.saturating_add(self.length_bytes)
    }
}

/// The layout of a filesystem.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "UncheckedLayout")]
pub struct Layout {
    /// Sorted and disjoint.
    areas: Vec<Area>,
    /// The filesystem's block size, the unit of [`LayoutQuery::contents`].
    pub block_bytes: u64,
    /// The kind of metadata outside all areas.
    pub metadata: BlockKind,
    /// The kind of file data outside all areas.
    pub files: BlockKind,
}

/// A layout from elsewhere, such as a guest; not yet checked.
#[derive(Deserialize)]
struct UncheckedLayout {
    areas: Vec<Area>,
    block_bytes: u64,
    metadata: BlockKind,
    files: BlockKind,
}

impl TryFrom<UncheckedLayout> for Layout {
    type Error = &'static str;

    fn try_from(told: UncheckedLayout) -> Result<Self, Self::Error> {
        let UncheckedLayout { areas, block_bytes, metadata, files } = told;
        if areas.windows(2).any(|pair| pair[0].end_bytes() > pair[1].offset_bytes) {
            return Err("the areas of a layout are not sorted, or overlap");
        }
        if block_bytes == 0 {
            return Err("the block size of a layout is 0");
        }
        Ok(Self { areas, block_bytes, metadata, files })
    }
}

impl Layout {
    /// A layout of these areas, which must be sorted and disjoint; files outside them are data.
    pub fn new(areas: Vec<Area>, block_bytes: u64, metadata: BlockKind) -> Self {
        Self { areas, block_bytes, metadata, files: BlockKind::Data }
    }

    /// The layout of a filesystem that does not reveal any.
    pub fn unknown() -> Self {
        Self {
            files: BlockKind::Unattributed,
            ..Self::new(Vec::new(), 4096, BlockKind::Unattributed)
        }
    }

    /// The areas, sorted and disjoint.
    pub fn areas(&self) -> &[Area] {
        &self.areas
    }

    /// Splits a range of the device at the borders of areas: for each part in order its length in
    /// bytes, never 0, and the kind of its area, if it is in one.
    pub fn split(
        &self,
        offset_bytes: u64,
        length_bytes: u64,
    ) -> impl Iterator<Item = (u64, Option<BlockKind>)> {
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

/// Recognises a block by its start, 32 bytes or more.
pub type Recognise = fn(&[u8]) -> Option<BlockKind>;

/// A tool's text could not be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "cannot derive the filesystem's layout from the output of {tool}: expected {expected}, found \
     {found}; check its output for this device, another version may print a different format"
)]
pub struct LayoutFault {
    /// The tool, and the version whose output is understood.
    pub tool: &'static str,
    /// What was expected in its output.
    pub expected: String,
    /// What was found.
    pub found: String,
}

/// How the layout of a filesystem is queried, while it is not mounted.
#[derive(Debug)]
pub struct LayoutQuery {
    /// The questions, in order.
    pub questions: &'static [ToolQuery],
    /// Further questions if the owners of pages are unknown. They locate metadata that moves,
    /// as it lay at unmount.
    pub without_owners: &'static [ToolQuery],
    /// Whether unmarked writes are then file data: the kernel marks metadata (`REQ_META`) or
    /// [`Self::without_owners`] finds it.
    pub marks_metadata: bool,
    /// Parses the answers, in the order of the questions.
    pub parse: fn(&[String]) -> Result<Layout, LayoutFault>,
    /// Recognises metadata blocks outside all areas; with `None` they are [`Layout::metadata`].
    pub contents: Option<Recognise>,
}

/// A question to one of the filesystem's tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolQuery {
    /// The program, which gets the device as its last argument and only reads it.
    pub call: MkfsCall,
    /// Its standard input.
    pub input: &'static str,
    /// The file in its working directory that it writes the answer to; `None` if it prints it.
    pub answer_file: Option<&'static str>,
}

impl ToolQuery {
    const fn of(program: &'static str, arguments: &'static [&'static str]) -> Self {
        Self { call: MkfsCall { program, arguments }, input: "", answer_file: None }
    }
}

#[cfg(test)]
mod tests;
