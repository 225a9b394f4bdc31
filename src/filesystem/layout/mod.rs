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
mod tests {
    use super::*;

    fn layout(areas: &[(u64, u64, Kind)]) -> Layout {
        let area = |&(offset_bytes, length_bytes, kind)| Area { offset_bytes, length_bytes, kind };
        let areas = areas.iter().map(area).collect();
        Layout { areas, block_bytes: 1, metadata: Kind::Directory, files: Kind::Data }
    }

    #[test]
    fn a_range_is_split_at_every_border() {
        use Kind::{Inode, Journal};
        let layout = layout(&[(10, 10, Journal), (20, 5, Inode), (40, 10, Journal)]);
        let split = |offset, length| layout.split(offset, length).collect::<Vec<_>>();
        assert_eq!(split(0, 10), [(10, None)]);
        assert_eq!(split(12, 3), [(3, Some(Journal))]);
        assert_eq!(
            split(5, 45),
            [(5, None), (10, Some(Journal)), (5, Some(Inode)), (15, None), (10, Some(Journal))]
        );
        assert_eq!(split(45, 20), [(5, Some(Journal)), (15, None)]);
        assert_eq!(split(60, u64::MAX), [(u64::MAX - 60, None)]);
        assert_eq!(split(12, 0), []);
    }

    #[test]
    fn no_byte_is_lost_or_told_twice() {
        let kinds = Kind::ALL[1..].iter().cycle();
        let areas: Vec<_> = (0..50).zip(kinds).map(|(i, kind)| (i * 7, 3 + i % 5, *kind)).collect();
        let layout = layout(&areas);
        for offset in 0..60 {
            for length in 0..60 {
                let parts: Vec<_> = layout.split(offset, length).collect();
                assert_eq!(parts.iter().map(|(part, _)| part).sum::<u64>(), length);
                assert!(parts.iter().all(|(part, _)| *part > 0));
                let kinds = parts.iter().flat_map(|&(part, kind)| (0..part).map(move |_| kind));
                for (at, kind) in (offset..).zip(kinds) {
                    let area =
                        areas.iter().find(|(start, len, _)| (*start..start + len).contains(&at));
                    assert_eq!(kind, area.map(|area| area.2), "at {at}");
                }
            }
        }
    }

    #[test]
    fn what_a_guest_tells_is_checked() {
        let told = |areas: &[(u64, u64, Kind)]| {
            let text = serde_json::to_string(&layout(areas)).unwrap();
            serde_json::from_str::<Layout>(&text)
        };
        let sorted = [(10, 10, Kind::Journal), (20, 5, Kind::Inode)];
        assert_eq!(told(&sorted).unwrap(), layout(&sorted));
        assert!(told(&[sorted[1], sorted[0]]).is_err());
        assert!(told(&[(10, 11, Kind::Journal), sorted[1]]).is_err());
    }

    #[test]
    fn names_are_different() {
        let names: std::collections::BTreeSet<_> = Kind::ALL.map(Kind::name).into();
        assert_eq!(names.len(), Kind::ALL.len());
    }
}
