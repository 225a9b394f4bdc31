//! ext2, ext3 and ext4, all by the ext4 driver.
//!
//! Sources: `include/trace/events/ext4.h` and `jbd2.h`; `fs/ext4/inode.c` for which events bracket
//! the bios of a file, `fs/jbd2/commit.c` for when blocks are handed over to be written in place.
//!
//! A bio queued between `ext4_writepages` and its result in one thread is that file's, so neither
//! extents nor names are needed. The journal belongs to those whose handles were first to dirty
//! its blocks. Blocks in place belong to those who marked an inode of theirs dirty; any other to
//! the transaction at whose commit the journal dirtied them. Without a journal, the thread that
//! dirties a page of the device's own inode is behind it.

use std::collections::BTreeMap;

use ssdlab_filesystem::{BlockKind, InodePlaces};

use crate::actor::Actor;
use crate::event::{
    CauseEvent, DIRECT, EventPoint, PAGE_BYTES, SECTOR_BYTES, WantedEvent, page_range,
};
use crate::shares::CauseShares;
use crate::state::{BioPart, FilesystemModel, FilesystemState};
use crate::tasks::Causer;

/// The most transactions whose causers are kept: one runs, one commits.
const MOST_TRANSACTIONS: usize = 16;

const EVENTS: &[WantedEvent] = &[
    WantedEvent::new(
        EventPoint::ExtWritten,
        &["ext4/ext4_da_write_end"],
        &["ino", "pos", "copied"],
    ),
    WantedEvent::new(EventPoint::ExtWritten, &["ext4/ext4_write_end"], &["ino", "pos", "copied"]),
    WantedEvent::new(
        EventPoint::ExtWritten,
        &["ext4/ext4_journalled_write_end"],
        &["ino", "pos", "copied"],
    ),
    WantedEvent::new(
        EventPoint::ExtFlushBegan,
        &["ext4/ext4_writepages", "ext4/ext4_da_writepages"],
        &["ino", "nr_to_write", "range_start", "range_end"],
    ),
    WantedEvent::new(
        EventPoint::ExtFlushEnded,
        &["ext4/ext4_writepages_result", "ext4/ext4_da_writepages_result"],
        &["ino", "ret", "pages_written"],
    ),
    WantedEvent::new(EventPoint::ExtInodeDirtied, &["ext4/ext4_mark_inode_dirty"], &["ino"]),
    WantedEvent::new(EventPoint::ExtInodeFreed, &["ext4/ext4_free_inode"], &["ino"]),
    WantedEvent::new(EventPoint::ExtSyncBegan, &["ext4/ext4_sync_file_enter"], &["ino"]),
    WantedEvent::new(EventPoint::ExtSyncEnded, &["ext4/ext4_sync_file_exit"], &["ino"]),
    WantedEvent::new(
        EventPoint::JournalHandle,
        &["jbd2/jbd2_handle_stats"],
        &["tid", "dirtied_blocks"],
    ),
    WantedEvent::new(EventPoint::CommitBegan, &["jbd2/jbd2_start_commit"], &["transaction"]),
    WantedEvent::new(EventPoint::CommitEnded, &["jbd2/jbd2_end_commit"], &["transaction"]),
    WantedEvent::new(EventPoint::JournalData, &["jbd2/jbd2_submit_inode_data"], &["ino"]),
];

/// A commit in progress.
#[derive(Debug)]
struct Commit {
    transaction: u64,
    /// Who waited for it.
    asked_by: Vec<Causer>,
    journal_bytes: u64,
}

/// What is known of an ext filesystem.
#[derive(Debug)]
pub struct Ext {
    /// The number of the block device's own inode, through which metadata in place is dirtied.
    device_inode: u64,
    places: Option<InodePlaces>,
    transactions: BTreeMap<u64, CauseShares>,
    last: CauseShares,
    commit: Option<Commit>,
    has_journal: bool,
    /// Threads in fsync(2), and who they are.
    syncing: BTreeMap<u32, Causer>,
    /// Begun passes of writing back, by thread: the inode, and the most pages if it is of the whole
    /// file.
    passes: BTreeMap<u32, (u64, Option<u64>)>,
}

impl Ext {
    pub fn new(device_inode: u64, places: Option<InodePlaces>) -> Self {
        let (transactions, last, syncing, passes) = Default::default();
        let (commit, has_journal) = (None, false);
        Self { device_inode, places, transactions, last, commit, has_journal, syncing, passes }
    }

    /// The causers of the committing transaction, else those of the last.
    fn committing(&self) -> CauseShares {
        let transaction = self.commit.as_ref().map(|commit| commit.transaction);
        let running = transaction.and_then(|number| self.transactions.get(&number));
        running.cloned().unwrap_or_default().or(|| self.last.clone())
    }

    fn handle_ended(
        &mut self,
        state: &FilesystemState,
        actor: &Actor,
        transaction: u64,
        blocks: u64,
    ) {
        self.has_journal = true;
        // A signed number of 32 bits.
        if blocks == 0 || blocks > i32::MAX as u64 {
            return;
        }
        while self.transactions.len() >= MOST_TRANSACTIONS {
            self.transactions.pop_first();
        }
        let pool = self.transactions.entry(transaction).or_default();
        pool.add_split(blocks * 1024, &state.cause(actor));
    }

    fn commit_began(&mut self, transaction: u64) {
        let mut asked_by: Vec<Causer> = self.syncing.values().copied().collect();
        asked_by.sort_unstable();
        asked_by.dedup();
        self.has_journal = true;
        self.commit = Some(Commit { transaction, asked_by, journal_bytes: 0 });
    }

    fn commit_ended(&mut self, state: &mut FilesystemState, transaction: u64) {
        if let Some(pool) = self.transactions.remove(&transaction) {
            self.last = pool;
        }
        let Some(commit) = self.commit.take() else { return };
        for asker in commit.asked_by {
            let mut own_bytes = 0;
            self.last.split(commit.journal_bytes, |causer, bytes| {
                own_bytes += if causer == asker { bytes } else { 0 };
            });
            state.committed(asker, commit.journal_bytes - own_bytes);
        }
    }

    fn folio_dirtied(&mut self, state: &mut FilesystemState, actor: &Actor, inode: u64, page: u64) {
        if inode == self.device_inode {
            if !self.has_journal {
                state.blocks.touch(page, &state.cause(actor));
            } else if !state.blocks.is_touched(page) {
                // The journal hands it over to be written in place.
                state.blocks.touch(page, &self.committing());
            }
            return;
        }
        // One that write(2) dirtied was counted by its bytes.
        if !state.is_redirtied(actor, inode) && !state.files.is_changed_by(inode, actor.causer) {
            state.files.changed(inode, actor, page_range(page));
        }
    }

    fn inode_dirtied(&mut self, state: &mut FilesystemState, actor: &Actor, inode: u64) {
        state.works_at(actor, inode);
        let place = self.places.as_ref().and_then(|places| places.offset_bytes(inode));
        if let Some(offset) = place {
            state.blocks.touch(offset / PAGE_BYTES, &state.cause(actor));
        }
    }

    fn flush_began(&mut self, state: &mut FilesystemState, actor: &Actor, numbers: &[u64]) {
        let [inode, most_pages, start, end, ..] = *numbers else { return };
        let is_whole = start == 0 && end >= i64::MAX as u64 - PAGE_BYTES;
        self.passes.insert(actor.thread, (inode, is_whole.then_some(most_pages)));
        state.files.flush_began(inode);
        state.begins_to_write(actor, inode);
    }

    fn flush_ended(&mut self, state: &mut FilesystemState, actor: &Actor, result: u64, pages: u64) {
        state.ends_to_write(actor);
        if let Some((inode, Some(most_pages))) = self.passes.remove(&actor.thread)
            && result == 0
            && pages < most_pages
        {
            state.files.flush_completed(inode);
        }
    }
}

impl FilesystemModel for Ext {
    fn events(&self) -> Vec<WantedEvent> {
        [EVENTS, DIRECT].concat()
    }

    fn take(&mut self, state: &mut FilesystemState, actor: &Actor, event: &CauseEvent) {
        let [first, second, third, ..] = event.numbers;
        match event.point {
            EventPoint::ExtWritten => {
                let range = second..second.saturating_add(third);
                state.files.changed(first, actor, range.clone());
                state.asked(state.inode(first), actor, range);
            }
            EventPoint::ExtFlushBegan => self.flush_began(state, actor, &event.numbers),
            EventPoint::ExtFlushEnded => self.flush_ended(state, actor, second, third),
            EventPoint::ExtInodeDirtied => self.inode_dirtied(state, actor, first),
            EventPoint::ExtInodeFreed => {
                state.deleted(first);
                state.files.freed(first);
            }
            EventPoint::ExtSyncBegan => {
                self.syncing.insert(actor.thread, actor.causer);
                state.synced(state.inode(first), actor);
            }
            EventPoint::ExtSyncEnded => {
                self.syncing.remove(&actor.thread);
            }
            EventPoint::JournalHandle => self.handle_ended(state, actor, first, second),
            EventPoint::CommitBegan => self.commit_began(first),
            EventPoint::CommitEnded => self.commit_ended(state, first),
            EventPoint::JournalData => state.works_at(actor, first),
            EventPoint::FolioDirtied => self.folio_dirtied(state, actor, first, second),
            _ => {}
        }
    }

    fn queued(&mut self, state: &mut FilesystemState, actor: &Actor, bio: &BioPart) {
        let is_of_journal_thread =
            !state.has_layout() && actor.is_journal && !state.is_writing(actor);
        match bio.area {
            Some(BlockKind::Journal) => self.journal(state, bio),
            _ if is_of_journal_thread => self.journal(state, bio),
            None if !bio.is_metadata => state.mark_data(actor, bio),
            area => {
                let other =
                    if state.has_layout() { BlockKind::Directory } else { BlockKind::Unattributed };
                // Without a journal, fsync(2) writes buffers whose folio stays dirty, and no event
                // says who dirties them again.
                let others = if self.has_journal { self.last.clone() } else { state.cause(actor) };
                state.mark_in_place(bio, area.unwrap_or(other), others);
            }
        }
    }
}

impl Ext {
    fn journal(&mut self, state: &mut FilesystemState, bio: &BioPart) {
        let causes = self.committing();
        if let Some(commit) = &mut self.commit {
            commit.journal_bytes += (bio.sectors.end - bio.sectors.start) * SECTOR_BYTES;
        }
        state.mark_metadata(bio, BlockKind::Journal, causes);
    }
}
