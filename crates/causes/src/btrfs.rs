//! btrfs.
//!
//! Sources: `include/trace/events/btrfs.h`; `fs/btrfs/ordered-data.c` for when a file's range gets
//! its place, `fs/btrfs/ctree.c` for copies of tree blocks; btrfs(5) for superblocks.
//!
//! Data is marked when its ordered extent is made, which covers copies, writes in place,
//! compression and direct I/O. A tree's block belongs to the thread that copied or dirtied it; the
//! blocks of trees that all share, and superblocks, to those of the transaction.

use std::collections::BTreeMap;
use std::ops::Range;

use ssdlab_filesystem::BlockKind;

use crate::actor::Actor;
use crate::event::{CauseEvent, EventPoint, PAGE_BYTES, SECTOR_BYTES, WantedEvent, page_range};
use crate::ledger::WrittenKind;
use crate::shares::CauseShares;
use crate::state::{BioPart, FilesystemModel, FilesystemState, SectorMark};

/// The subvolume that every btrfs has.
const TOP_SUBVOLUME: u64 = 5;
/// The inode of all tree blocks.
const TREES: u64 = 1;
/// Where superblocks are, and their length, in bytes.
const SUPERBLOCKS_AT: [u64; 3] = [64 << 10, 64 << 20, 256 << 30];
const SUPERBLOCK_BYTES: u64 = 4096;
/// The most tree blocks whose tree is remembered.
const MOST_BLOCKS: usize = 1 << 20;

const EVENTS: &[WantedEvent] = &[
    WantedEvent::new(
        EventPoint::BtrfsPlaced,
        &["btrfs/btrfs_ordered_extent_add"],
        &["ino", "file_offset", "start", "len", "disk_len", "root_objectid"],
    ),
    WantedEvent::new(
        EventPoint::BtrfsFinished,
        &["btrfs/btrfs_ordered_extent_mark_finished", "btrfs/btrfs_finish_ordered_extent"],
        &["ino"],
    ),
    WantedEvent::new(
        EventPoint::BtrfsCopied,
        &["btrfs/btrfs_cow_block"],
        &["root_objectid", "cow_start"],
    ),
    WantedEvent::new(EventPoint::BtrfsCommitted, &["btrfs/btrfs_transaction_commit"], &[]),
    WantedEvent::new(EventPoint::BtrfsChunkAdded, &["btrfs/btrfs_chunk_alloc"], &[]),
    WantedEvent::new(EventPoint::BtrfsSynced, &["btrfs/btrfs_sync_file"], &["ino"]),
];

/// A chunk of logical addresses, and the place of each of its copies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BtrfsChunk {
    /// Its logical addresses, in bytes.
    pub logical: Range<u64>,
    /// The number of the device and the first byte there, of each copy.
    pub copies: Vec<(u64, u64)>,
}

/// Where btrfs keeps what.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BtrfsGeometry {
    /// The length of a tree's block.
    pub node_bytes: u64,
    /// The chunks whose copies are contiguous: single, DUP and mirrors.
    pub chunks: Vec<BtrfsChunk>,
}

/// What is known of a btrfs filesystem.
#[derive(Debug)]
pub struct Btrfs {
    geometry: BtrfsGeometry,
    /// The tree of each block, by its logical address.
    trees: BTreeMap<u64, u64>,
    /// The subvolume in which an inode's number was seen last.
    roots: BTreeMap<u64, u64>,
}

/// The kind of a block by its tree; `BTRFS_*_TREE_OBJECTID` in `uapi/linux/btrfs_tree.h`.
fn kind_of(tree: u64) -> WrittenKind {
    match tree {
        2 => WrittenKind::ExtentTree,
        1 | 3 | 4 | 10 | 11 => WrittenKind::RootTrees,
        7 => WrittenKind::ChecksumTree,
        tree if tree == u64::MAX - 5 => WrittenKind::LogTree,
        _ => WrittenKind::FileTree,
    }
}

impl Btrfs {
    pub fn new(geometry: BtrfsGeometry) -> Self {
        Self { geometry, trees: BTreeMap::new(), roots: BTreeMap::new() }
    }

    /// Learns of chunks that were allocated since.
    pub fn update(&mut self, geometry: BtrfsGeometry) {
        self.geometry = geometry;
    }

    fn sectors(logical: u64, length: u64) -> Range<u64> {
        logical / SECTOR_BYTES..logical.saturating_add(length) / SECTOR_BYTES
    }

    /// Every copy of a logical address: the member's index, and the byte there.
    fn physical(&self, state: &FilesystemState, logical: u64) -> Vec<(usize, u64)> {
        let chunk = self.geometry.chunks.iter().find(|chunk| chunk.logical.contains(&logical));
        let copies = chunk.into_iter().flat_map(|chunk| {
            let within = logical - chunk.logical.start;
            chunk.copies.iter().map(move |(device, start)| (*device, start + within))
        });
        let member = |id: u64| state.members.iter().position(|member| member.id == id);
        copies.filter_map(|(device, at)| Some((member(device)?, at))).collect()
    }

    fn logical(&self, state: &FilesystemState, member: usize, at: u64) -> Option<u64> {
        let id = state.members.get(member)?.id;
        self.geometry.chunks.iter().find_map(|chunk| {
            let length = chunk.logical.end - chunk.logical.start;
            let copy = chunk.copies.iter().find(|(device, start)| {
                *device == id && (*start..start.saturating_add(length)).contains(&at)
            })?;
            Some(chunk.logical.start + (at - copy.1))
        })
    }

    fn placed(&mut self, state: &mut FilesystemState, actor: &Actor, numbers: &[u64]) {
        let [inode, offset, start, length, disk_length, tree] = *numbers else { return };
        let causes = state.files.take_range(inode, &(offset..offset.saturating_add(length)));
        let causes = causes.or(|| state.cause(actor));
        state.works_at(actor, inode);
        state.blocks.join(&causes, 1);
        let file = state.inode_in(tree, inode);
        // No event reports write(2).
        state.asked_by(file, length, &causes);
        if self.roots.len() >= MOST_BLOCKS {
            self.roots.clear();
        }
        self.roots.insert(inode, tree);
        let inode = Some(file);
        for (member, at) in self.physical(state, start) {
            let mark = SectorMark { kind: BlockKind::Data.into(), inode, causes: causes.clone() };
            state.mark(member, Self::sectors(at, disk_length), mark);
        }
    }

    fn folio_dirtied(&self, state: &mut FilesystemState, actor: &Actor, inode: u64, page: u64) {
        let range = page_range(page);
        if inode != TREES {
            if !state.is_redirtied(actor, inode) {
                state.files.changed_range(inode, actor, range);
            }
        } else if range.start.is_multiple_of(self.geometry.node_bytes.max(PAGE_BYTES)) {
            // A new copy, or a part that was split off.
            let causes = state.cause(actor);
            state.blocks.take(page);
            state.blocks.touch(page, &causes);
            state.blocks.join(&causes, 1);
        }
    }

    fn tree_block(
        &self,
        state: &FilesystemState,
        member: usize,
        sector: u64,
    ) -> (WrittenKind, CauseShares) {
        let logical = self.logical(state, member, sector * SECTOR_BYTES);
        let tree = logical.and_then(|logical| self.trees.get(&logical).copied());
        let kind = tree.map_or(BlockKind::CowMetadata.into(), kind_of);
        let is_shared = matches!(kind, WrittenKind::ExtentTree | WrittenKind::RootTrees);
        let own = logical.filter(|_| !is_shared);
        let causes = own.map(|logical| state.blocks.get(logical / PAGE_BYTES));
        (kind, causes.unwrap_or_default().or(|| state.blocks.pooled()))
    }
}

impl FilesystemModel for Btrfs {
    fn events(&self) -> Vec<WantedEvent> {
        EVENTS.to_vec()
    }

    fn take(&mut self, state: &mut FilesystemState, actor: &Actor, event: &CauseEvent) {
        let [first, second, ..] = event.numbers;
        match event.point {
            EventPoint::BtrfsPlaced => self.placed(state, actor, &event.numbers),
            EventPoint::BtrfsFinished | EventPoint::WritebackBegan => state.works_at(actor, first),
            EventPoint::BtrfsCopied => {
                if self.trees.len() >= MOST_BLOCKS {
                    self.trees.clear();
                }
                self.trees.insert(second, first);
            }
            EventPoint::BtrfsCommitted => state.blocks.commit(),
            EventPoint::FolioDirtied => self.folio_dirtied(state, actor, first, second),
            EventPoint::BtrfsSynced => {
                let tree = self.roots.get(&first).copied().unwrap_or(TOP_SUBVOLUME);
                state.synced(state.inode_in(tree, first), actor);
            }
            _ => {}
        }
    }

    fn queued(&mut self, state: &mut FilesystemState, actor: &Actor, bio: &BioPart) {
        let start = bio.sectors.start * SECTOR_BYTES;
        let is_superblock =
            SUPERBLOCKS_AT.iter().any(|at| (*at..at + SUPERBLOCK_BYTES).contains(&start));
        if is_superblock {
            let causes = state.blocks.pooled();
            state.mark_metadata(bio, BlockKind::Superblock, causes);
        } else if !bio.is_metadata {
            state.mark_data(actor, bio);
        } else {
            let step = (self.geometry.node_bytes.max(PAGE_BYTES)) / SECTOR_BYTES;
            let mut at = bio.sectors.start;
            while at < bio.sectors.end {
                let end = (at + step).min(bio.sectors.end);
                let (kind, causes) = self.tree_block(state, bio.member, at);
                state.mark(bio.member, at..end, SectorMark { kind, inode: None, causes });
                at = end;
            }
        }
    }

    fn marks_early(&self) -> bool {
        true
    }
}
