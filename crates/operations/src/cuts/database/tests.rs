//! A database is written as a program would, and recovered from every state that a cut may leave.

use super::{
    CONTROL_BYTES, Checkpoint, CommitRecord, Commits, DatabaseFiles, DatabaseShape,
    LOG_BLOCK_BYTES, TornPages,
};
use crate::cuts::{Damage, FileState};

fn shape(torn_pages: TornPages) -> DatabaseShape {
    DatabaseShape { page_bytes: 8192, table_pages: 16, pages: 2, checkpoint_every: 4, torn_pages }
}

fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap()
}

/// A database in memory, and the last commit of each page that is not in the table yet.
struct Written {
    shape: DatabaseShape,
    commits: Commits,
    files: DatabaseFiles,
    dirty: Vec<(u32, u32)>,
}

impl Written {
    fn new(torn_pages: TornPages) -> Self {
        let shape = shape(torn_pages);
        let start = Checkpoint { seed: 7, commit: 0, log_bytes: 0 };
        let files = DatabaseFiles {
            control: start.to_bytes().to_vec(),
            log: vec![0; size(shape.log_bytes())],
            table: (0..16).flat_map(|page| shape.page(page, 0)).collect(),
            double_write: vec![0; size(shape.double_write_bytes())],
        };
        Self { shape, commits: Commits::after(shape, start), files, dirty: Vec::new() }
    }

    fn commit(mut self, number: u32) -> Self {
        for _ in 0..number {
            let CommitRecord { commit, pages, at_bytes, bytes } = self.commits.commit();
            let capacity = self.files.log.len();
            for (at, byte) in (size(at_bytes)..).zip(bytes) {
                self.files.log[at % capacity] = byte;
            }
            self.dirty.retain(|(page, _)| !pages.contains(page));
            self.dirty.extend(pages.into_iter().map(|page| (page, commit)));
        }
        self
    }

    /// The sectors of a dirty page, from one on, get into the table.
    fn write(&mut self, dirty: usize, from_sector: usize) {
        let (page, commit) = self.dirty[dirty];
        let new = self.shape.page(page, commit);
        let at = page as usize * new.len();
        let from = 512 * from_sector;
        self.files.table[at + from..at + new.len()].copy_from_slice(&new[from..]);
    }

    fn copy(&mut self) {
        for (place, (page, commit)) in self.dirty.iter().enumerate() {
            let copy = self.shape.page(*page, *commit);
            self.files.double_write[place * copy.len()..][..copy.len()].copy_from_slice(&copy);
        }
    }

    fn checkpoint(mut self) -> Self {
        for dirty in 0..self.dirty.len() {
            self.write(dirty, 0);
        }
        self.dirty.clear();
        self.files.control = self.commits.checkpoint().to_bytes().to_vec();
        self
    }

    fn found(&self) -> FileState {
        FileState::of_database(self.shape, &self.files)
    }
}

const ALL: [TornPages; 3] = [TornPages::Nothing, TornPages::FullPages, TornPages::DoubleWrite];

#[test]
fn what_is_committed_is_found_before_and_after_checkpoints() {
    for torn_pages in ALL {
        let mut written = Written::new(torn_pages);
        assert_eq!(written.found(), FileState::whole(0));
        // The log is used over and over.
        for round in 0..9 {
            written = written.commit(3);
            assert_eq!(written.found(), FileState::whole(4 * round + 3));
            written.write(0, 0);
            assert_eq!(written.found(), FileState::whole(4 * round + 3), "some pages are written");
            written = written.commit(1).checkpoint();
            assert_eq!(written.found(), FileState::whole(4 * round + 4));
        }
    }
}

#[test]
fn a_torn_page_is_repaired_by_the_log_or_a_copy_and_by_nothing_else() {
    for torn_pages in ALL {
        let mut written = Written::new(torn_pages).commit(4).checkpoint().commit(3);
        if torn_pages == TornPages::DoubleWrite {
            written.copy();
        }
        written.write(1, 8);
        let fault = (torn_pages == TornPages::Nothing).then_some(Damage::Torn);
        assert_eq!(written.found(), FileState { version: Some(7), fault }, "{torn_pages:?}");
    }
}

#[test]
fn a_record_that_is_not_whole_ends_the_log() {
    let mut written = Written::new(TornPages::Nothing).commit(4).checkpoint().commit(3);
    // Records of 500 bytes, the sixth of which is changed.
    written.files.log[5 * 500 + 77] ^= 1;
    assert_eq!(written.found(), FileState::whole(5));
}

#[test]
fn a_page_that_was_lost_loses_the_commits_since() {
    let mut written = Written::new(TornPages::FullPages).commit(4);
    let (page, commit) = written.dirty[0];
    written = written.checkpoint();
    let old = written.shape.page(page, 0);
    written.files.table[page as usize * old.len()..][..old.len()].copy_from_slice(&old);
    let found = written.found();
    assert!(found.version < Some(commit) && found.fault.is_none(), "{found:?} without {commit}");
}

#[test]
fn damage_is_told_apart() {
    let damaged = |change: &dyn Fn(&mut DatabaseFiles)| {
        let mut written = Written::new(TornPages::Nothing).commit(4).checkpoint();
        change(&mut written.files);
        written.found()
    };
    let fault = |change: &dyn Fn(&mut DatabaseFiles)| damaged(change).fault;
    assert_eq!(fault(&|files| files.table[..4096].fill(0)), Some(Damage::Zeros));
    assert_eq!(fault(&|files| files.table[99] ^= 1), Some(Damage::Garbage));
    assert_eq!(fault(&|files| files.table.truncate(9000)), Some(Damage::Torn));
    assert_eq!(fault(&|files| files.control.clear()), Some(Damage::Empty));
    assert_eq!(fault(&|files| files.control.fill(0)), Some(Damage::Zeros));
    assert_eq!(fault(&|files| files.control[CONTROL_BYTES - 1] = 1), Some(Damage::Garbage));
    assert_eq!(fault(&|files| files.control.truncate(100)), Some(Damage::Torn));
    assert_eq!(damaged(&|files| files.log.clear()), FileState::whole(4));
    // A page with a change that the log does not have.
    let ahead = |files: &mut DatabaseFiles| {
        files.table[..8192].copy_from_slice(&shape(TornPages::Nothing).page(0, 9));
    };
    assert_eq!(fault(&ahead), Some(Damage::Garbage));
}

#[test]
fn the_log_has_room_for_the_commits_between_checkpoints() {
    for torn_pages in ALL {
        let shape = shape(torn_pages);
        let mut commits = Commits::after(shape, Checkpoint { seed: 3, commit: 0, log_bytes: 0 });
        for _ in 0..20 {
            let begin = commits.checkpoint().log_bytes;
            let records: Vec<CommitRecord> = (0..4).map(|_| commits.commit()).collect();
            let end = records.last().map(|last| last.at_bytes + last.bytes.len() as u64).unwrap();
            let block = LOG_BLOCK_BYTES as u64;
            let blocks = begin / block..end.div_ceil(block);
            assert!((blocks.end - blocks.start) * block <= shape.log_bytes());
        }
        assert_eq!(shape.log_bytes() % LOG_BLOCK_BYTES as u64, 0);
    }
}

#[test]
fn the_newest_copy_of_a_page_repairs_it() {
    let mut written = Written::new(TornPages::DoubleWrite).commit(4).checkpoint().commit(3);
    written.copy();
    let older = written.shape.page(written.dirty[1].0, 0);
    let behind = written.files.double_write.len() - older.len();
    assert!(written.dirty.len() * older.len() <= behind, "there is room behind the copies");
    written.files.double_write[behind..].copy_from_slice(&older);
    written.write(1, 8);
    assert_eq!(written.found(), FileState::whole(7));
}
