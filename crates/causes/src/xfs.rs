//! XFS.
//!
//! Sources: `fs/xfs/xfs_trace.h`, `fs/iomap/trace.h`; `fs/xfs/xfs_log_cil.c` for checkpoints.
//!
//! Data is marked when it is added to an ioend, with its address and its range of the file; who
//! dirtied each part of that range is known. The log belongs to those whose items joined the
//! checkpoint. Buffers in place belong to those who logged them since they were last written.

use std::collections::BTreeSet;

use ssdlab_filesystem::{BlockKind, InodePlaces};

use crate::actor::Actor;
use crate::event::{
    CauseEvent, DIRECT, EventPoint, PAGE_BYTES, SECTOR_BYTES, WantedEvent, page_range,
};
use crate::shares::CauseShares;
use crate::state::{BLOCK_SECTORS, BioPart, FilesystemModel, FilesystemState, SectorMark};

/// The blocks of 4 KiB in a cluster of inodes: 16 KiB unless mkfs was told otherwise.
const CLUSTER_BLOCKS: u64 = 4;
/// Items of a transaction: a logged inode is some twice as long as a changed part of a buffer.
const INODE_ITEM: u64 = 2;
const BUFFER_ITEM: u64 = 1;
/// A ticket with less is a checkpoint's own, not a transaction's.
const CHECKPOINT_BYTES: u64 = 4096;
/// The most clusters that are remembered.
const MOST_CLUSTERS: usize = 1 << 20;

const EVENTS: &[WantedEvent] = {
    const fn at_work(name: &'static [&'static str]) -> WantedEvent {
        WantedEvent::new(EventPoint::XfsAtWork, name, &["ino"])
    }
    &[
        WantedEvent::new(
            EventPoint::XfsWritten,
            &["xfs/xfs_file_buffered_write"],
            &["ino", "offset", "count"],
        ),
        WantedEvent::new(
            EventPoint::IoendAdded,
            &["iomap/iomap_add_to_ioend"],
            &["ino", "pos", "dirty_len", "addr", "offset"],
        ),
        at_work(&["xfs/xfs_map_blocks_alloc"]),
        at_work(&["xfs/xfs_map_blocks_found"]),
        at_work(&["xfs/xfs_setfilesize"]),
        at_work(&["xfs/xfs_unwritten_convert"]),
        WantedEvent::new(
            EventPoint::XfsBufferLogged,
            &["xfs/xfs_trans_log_buf"],
            &["buf_bno", "buf_len"],
        ),
        WantedEvent::new(EventPoint::XfsInodePinned, &["xfs/xfs_inode_pin"], &["ino"]),
        WantedEvent::new(
            EventPoint::XfsTicketEnded,
            &["xfs/xfs_log_ticket_ungrant"],
            &["unit_res"],
        ),
        WantedEvent::new(EventPoint::XfsInodeLeft, &["xfs/xfs_inode_set_need_inactive"], &["ino"]),
        WantedEvent::new(EventPoint::XfsInactivating, &["xfs/xfs_inode_inactivating"], &["ino"]),
        WantedEvent::new(EventPoint::XfsInodeFreed, &["xfs/xfs_iunlink_remove"], &[]),
        WantedEvent::new(EventPoint::XfsSynced, &["xfs/xfs_file_fsync"], &["ino"]),
    ]
};

/// What is known of an XFS filesystem.
#[derive(Debug)]
pub struct Xfs {
    places: Option<InodePlaces>,
    /// The first block of each cluster whose inodes were logged.
    clusters: BTreeSet<u64>,
    /// Inodes that were freed, and whose numbers were not met since.
    freed: BTreeSet<u64>,
    /// Whether a checkpoint was formatted whose last record is still to be written.
    has_ended: bool,
}

impl Xfs {
    pub fn new(places: Option<InodePlaces>) -> Self {
        Self { places, clusters: BTreeSet::new(), freed: BTreeSet::new(), has_ended: false }
    }

    /// Whoever changes an inode that was freed has a new file with its number.
    fn begin_if_reused(&mut self, state: &mut FilesystemState, inode: u64) {
        if self.freed.remove(&inode) {
            state.files.freed(inode);
        }
    }

    /// What the worker still writes for the file is the file's.
    fn inode_freed(&mut self, state: &mut FilesystemState, inode: u64) {
        // Newer kernels say it twice.
        if self.freed.contains(&inode) {
            return;
        }
        state.deleted(inode);
        if self.freed.len() >= MOST_CLUSTERS {
            for inode in std::mem::take(&mut self.freed) {
                state.files.freed(inode);
            }
        }
        self.freed.insert(inode);
    }

    fn inode_pinned(&mut self, state: &mut FilesystemState, causes: &CauseShares, inode: u64) {
        state.blocks.join(causes, INODE_ITEM);
        let place = self.places.as_ref().and_then(|places| places.offset_bytes(inode));
        let Some(offset) = place else { return };
        let first = offset / PAGE_BYTES / CLUSTER_BLOCKS * CLUSTER_BLOCKS;
        if self.clusters.len() >= MOST_CLUSTERS {
            self.clusters.clear();
        }
        self.clusters.insert(first);
        for block in first..first + CLUSTER_BLOCKS {
            state.blocks.touch(block, causes);
        }
    }

    /// The first write after a checkpoint's end carries it; others carry the one being made.
    fn log(&mut self, state: &FilesystemState) -> CauseShares {
        let ended = std::mem::take(&mut self.has_ended);
        if ended { state.blocks.last_pool.clone() } else { state.blocks.pooled() }
    }

    fn placed(state: &mut FilesystemState, actor: &Actor, numbers: &[u64]) {
        let [inode, position, length, address, offset, ..] = *numbers else { return };
        state.works_at(actor, inode);
        let causes = state.files.take_range(inode, &(position..position.saturating_add(length)));
        let start = address.wrapping_add(position).wrapping_sub(offset) / SECTOR_BYTES;
        let sectors = start..start.saturating_add(length / SECTOR_BYTES);
        let inode = Some(state.inode(inode));
        state.mark(0, sectors, SectorMark { kind: BlockKind::Data.into(), inode, causes });
    }
}

impl FilesystemModel for Xfs {
    fn events(&self) -> Vec<WantedEvent> {
        [EVENTS, DIRECT].concat()
    }

    fn take(&mut self, state: &mut FilesystemState, actor: &Actor, event: &CauseEvent) {
        let [first, second, third, ..] = event.numbers;
        match event.point {
            EventPoint::XfsWritten => {
                self.begin_if_reused(state, first);
                let range = second..second.saturating_add(third);
                // By page, as it is written.
                let whole = second / PAGE_BYTES * PAGE_BYTES
                    ..range.end.div_ceil(PAGE_BYTES).saturating_mul(PAGE_BYTES);
                state.files.changed_range(first, actor, whole);
                state.asked(state.inode(first), actor, range);
            }
            EventPoint::IoendAdded => Self::placed(state, actor, &event.numbers),
            EventPoint::XfsAtWork | EventPoint::WritebackBegan => state.works_at(actor, first),
            EventPoint::FolioDirtied => {
                self.begin_if_reused(state, first);
                let range = page_range(second);
                if !state.is_redirtied(actor, first) && !state.files.is_dirty_at(first, range.start)
                {
                    state.files.changed_range(first, actor, range);
                }
            }
            // A number that was freed is another file's by now, which nobody was seen to change.
            EventPoint::XfsInodeLeft => {
                self.begin_if_reused(state, first);
                if !actor.is_kernel {
                    state.files.deleted_by(first, actor.causer);
                }
            }
            EventPoint::XfsInactivating => {
                self.begin_if_reused(state, first);
                state.works_at(actor, first);
            }
            // Others give a name to a file of O_TMPFILE, or to a rename's whiteout.
            EventPoint::XfsInodeFreed if actor.is_kernel => {
                if let Some(inode) = state.worked_at(actor) {
                    self.inode_freed(state, inode);
                }
            }
            EventPoint::XfsBufferLogged => {
                let causes = state.cause(actor);
                let end = first.saturating_add(second);
                let blocks = first / BLOCK_SECTORS..end.div_ceil(BLOCK_SECTORS);
                for block in blocks {
                    state.blocks.touch(block, &causes);
                }
                state.blocks.join(&causes, BUFFER_ITEM);
            }
            EventPoint::XfsInodePinned => {
                // Workers do what is left to do for the file that is gone.
                if !actor.is_kernel {
                    self.begin_if_reused(state, first);
                }
                let causes = state.cause(actor);
                self.inode_pinned(state, &causes, first);
            }
            EventPoint::XfsTicketEnded if actor.is_kernel && first < CHECKPOINT_BYTES => {
                if !state.blocks.pool.is_empty() {
                    state.blocks.commit();
                }
                self.has_ended = true;
            }
            EventPoint::DirectBegan => self.begin_if_reused(state, first),
            EventPoint::XfsSynced => {
                self.begin_if_reused(state, first);
                state.synced(state.inode(first), actor);
            }
            _ => {}
        }
    }

    fn queued(&mut self, state: &mut FilesystemState, actor: &Actor, bio: &BioPart) {
        match bio.area {
            Some(BlockKind::Journal) => {
                let causes = self.log(state);
                state.mark_metadata(bio, BlockKind::Journal, causes);
            }
            None if !bio.is_metadata => state.mark_data(actor, bio),
            area => {
                let cluster = bio.sectors.start / BLOCK_SECTORS / CLUSTER_BLOCKS * CLUSTER_BLOCKS;
                let is_inode = self.clusters.contains(&cluster);
                let other = if is_inode { BlockKind::Inode } else { BlockKind::Unattributed };
                let others = state.blocks.pooled();
                state.mark_in_place(bio, area.unwrap_or(other), others);
            }
        }
    }

    fn marks_early(&self) -> bool {
        true
    }
}
