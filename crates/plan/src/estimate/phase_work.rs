//! The work that a phase asks for: system calls, bytes and waiting time.

use ssdlab_operations::cuts::contents::REPLACED_BYTES;
use ssdlab_operations::cuts::database::{DatabaseShape, LOG_BLOCK_BYTES, TornPages};

use crate::bonnie::{Bonnie, BonnieTest};
use crate::database::Database;
use crate::io::{Io, IoEnd, IoSyncPolicy};
use crate::recordings::{self, Recording};
use crate::schedule::{Action, Build, FileTree, Workload};
use crate::transactions::{JournalMode, PAGE_BYTES, Synchronous, Transactions};
use crate::versions::{Append, Replace};

/// System calls to make a file, and to delete one.
const CALLS_TO_MAKE: u64 = 4;
const CALLS_TO_DELETE: u64 = 2;

/// System calls to read a small file: open, read, read its end, close.
pub(super) const CALLS_TO_READ: u64 = 4;

/// System calls of a transaction: some of the page size for each page, twice, and the syncs.
const CALLS_OF_A_TRANSACTION: u64 = 40;

/// System calls to deliver a message, to read it and to delete it.
const CALLS_OF_A_MESSAGE: u64 = CALLS_TO_MAKE + 3 + CALLS_TO_READ + 1;

/// The time of an operation that starts when another ends, where only the drive says how long it
/// takes, in ns: about that of an early drive.
const CLOSED_NS: u64 = 100_000;

/// The shortest pause between two transactions that hides what the drive adds to it, in ns: their
/// syncs take milliseconds.
const LONG_PAUSE_NS: u64 = 10_000_000;

/// The share of a synthetic tree's bytes that its build writes, in percent: 203 of 340 MB
/// (`workload::synthetic::make`).
const BUILT_PERCENT: u64 = 60;

/// Pages in a write-ahead log when it is moved into the database
/// (`workload::transactions`).
const CHECKPOINT_FRAMES: u64 = 1000;

/// One in so many of Bonnie's seeks writes its chunk back.
const SEEKS_PER_WRITE: u64 = 10;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct PhaseWork {
    pub calls: u64,
    /// Calls that make or delete a tree, which the virtual lab makes many at once.
    pub tree_calls: u64,
    /// Calls that wait until the drive has kept what was written.
    pub syncs: u64,
    pub bytes: u64,
    /// Bytes of large files, whose contents the virtual lab need not make.
    pub streamed_bytes: u64,
    /// Directory entries that are passed on the way to a name, if directories have no index.
    pub searched_entries: u64,
    /// Waiting time, in ns; in virtual time it is free.
    pub waits_ns: u64,
    /// Whether it writes as fast as the drive allows until a time has passed, so that only the
    /// drive says how much that is.
    pub is_open: bool,
}

impl PhaseWork {
    /// The work of both.
    pub fn and(self, other: Self) -> Self {
        Self {
            calls: self.calls.saturating_add(other.calls),
            tree_calls: self.tree_calls.saturating_add(other.tree_calls),
            syncs: self.syncs.saturating_add(other.syncs),
            bytes: self.bytes.saturating_add(other.bytes),
            streamed_bytes: self.streamed_bytes.saturating_add(other.streamed_bytes),
            searched_entries: self.searched_entries.saturating_add(other.searched_entries),
            waits_ns: self.waits_ns.saturating_add(other.waits_ns),
            is_open: self.is_open || other.is_open,
        }
    }
}

/// The work before the first phase: the files that phases begin with, each of which is written
/// once.
pub(super) fn before_phases(workload: &Workload) -> PhaseWork {
    let laid_out = workload.files().values().fold(0, |sum: u64, bytes| sum.saturating_add(*bytes));
    let history = workload.phases.iter().fold(0, |sum: u64, phase| {
        sum.saturating_add(match &phase.action {
            Action::Replace(replace) => u64::from(replace.files) * REPLACED_BYTES as u64,
            Action::Database(database) => database.shape.bytes(),
            Action::Sequences(work) => work.written_bytes(),
            _ => 0,
        })
    });
    PhaseWork { bytes: history, streamed_bytes: laid_out, ..PhaseWork::default() }
}

/// The work of looking, after a power cut, at all that phases have left.
pub(super) fn of_look(workload: &Workload) -> PhaseWork {
    let of_phase = |action: &Action| match action {
        Action::Replace(replace) => {
            (replace.files.into(), u64::from(replace.files) * REPLACED_BYTES as u64)
        }
        Action::Append(append) => (1, append.written_bytes()),
        Action::Database(database) => (1, database.shape.bytes()),
        Action::Sequences(work) => (work.calls(), work.written_bytes()),
        _ => (0, 0),
    };
    workload.phases.iter().fold(PhaseWork::default(), |sum, phase| {
        let (files, bytes) = of_phase(&phase.action);
        sum.and(PhaseWork { calls: files * CALLS_TO_READ, bytes, ..PhaseWork::default() })
    })
}

/// The work of a phase; `None` if it depends on a program's own time, or on a file that has not
/// been read yet.
pub(super) fn of_action(action: &Action, workload: &Workload) -> Option<PhaseWork> {
    let of_tree = |tree_calls, bytes| Some(PhaseWork { tree_calls, bytes, ..PhaseWork::default() });
    let of_build = || match workload.build.as_ref()? {
        Build::Synthetic { files, bytes } => Some((*files, *bytes)),
        Build::Git { .. } => None,
    };
    let of_files = || match (&workload.tree, &workload.build) {
        (Some(FileTree::Synthetic { files, bytes }), _) => Some((*files, *bytes)),
        (Some(FileTree::Archive { .. }), _) => None,
        (None, Some(_)) => of_build(),
        (None, None) => Some((0, 0)),
    };
    match action {
        Action::Unpack => {
            of_files().and_then(|(files, bytes)| of_tree(files * CALLS_TO_MAKE, bytes))
        }
        Action::Clone => {
            of_build().and_then(|(files, bytes)| of_tree(files * CALLS_TO_MAKE, bytes))
        }
        Action::Make => of_build()
            .and_then(|(files, bytes)| of_tree(files * CALLS_TO_MAKE, bytes / 100 * BUILT_PERCENT)),
        Action::Read { .. } => {
            let (files, _) = of_files()?;
            Some(PhaseWork { calls: files * CALLS_TO_READ, ..PhaseWork::default() })
        }
        Action::Delete => of_files().and_then(|(files, _)| of_tree(files * CALLS_TO_DELETE, 0)),
        Action::Clean => of_build().and_then(|(files, _)| of_tree(files * CALLS_TO_DELETE, 0)),
        Action::Sync | Action::Fstrim | Action::Remount => Some(PhaseWork::default()),
        Action::Idle { quiet_ns } => {
            Some(PhaseWork { waits_ns: *quiet_ns, ..PhaseWork::default() })
        }
        Action::Stretch { stretch_ns, washout_ns } => {
            let waits_ns = stretch_ns.saturating_add(*washout_ns);
            Some(PhaseWork { waits_ns, ..PhaseWork::default() })
        }
        Action::Bonnie { test } => Some(of_bonnie(*test, workload.bonnie.as_ref()?)),
        Action::Io(io) => Some(of_io(io)),
        Action::Transactions(work) => Some(of_transactions(work)),
        Action::Replace(replace) => Some(of_replace(*replace)),
        Action::Append(append) => Some(of_append(*append)),
        Action::Database(database) => Some(of_database(*database)),
        // What they write is most of what is there before them.
        Action::Sequences(work) => Some(PhaseWork { calls: work.calls(), ..PhaseWork::default() }),
        Action::Maildir(maildir) => Some(PhaseWork {
            calls: u64::from(maildir.messages) * CALLS_OF_A_MESSAGE,
            syncs: maildir.messages.into(),
            bytes: maildir.written_bytes(),
            waits_ns: u64::from(maildir.messages).saturating_mul(maildir.think_ns),
            ..PhaseWork::default()
        }),
        Action::Rotate(rotate) => Some(PhaseWork {
            calls: u64::from(rotate.records),
            bytes: rotate.written_bytes(),
            waits_ns: u64::from(rotate.records).saturating_mul(rotate.think_ns),
            ..PhaseWork::default()
        }),
        Action::Replay { log: Recording::Shipped(name) } => {
            let log = recordings::find(name)?;
            let (calls, bytes) = (log.operations, log.written_bytes);
            Some(PhaseWork { calls, bytes, ..PhaseWork::default() })
        }
        Action::Replay { log: Recording::File(_) }
        | Action::Command { .. }
        | Action::Fio { .. }
        | Action::Imported => None,
    }
}

/// Reads and writes: as many as the end allows, at their rate if they have one.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "shares are 0 to 1")]
fn of_io(io: &Io) -> PhaseWork {
    let block = io.mean_block_bytes().max(1);
    let (operations, moved) = match (io.end, io.period_ns) {
        (IoEnd::Bytes(bytes), _) => (bytes.div_ceil(block), bytes),
        (IoEnd::Operations(operations), _) => (operations, operations.saturating_mul(block)),
        (IoEnd::Time(ns), period) => {
            let operations = ns.div_ceil(period.unwrap_or(CLOSED_NS).max(1));
            (operations, operations.saturating_mul(block))
        }
    };
    let is_open = matches!((io.end, io.period_ns), (IoEnd::Time(_), None)) && io.read_share < 1.0;
    let written = |amount: u64| (amount as f64 * (1.0 - io.read_share)) as u64;
    let syncs = match io.sync {
        IoSyncPolicy::Never => 0,
        IoSyncPolicy::AtEnd => io.files.into(),
        IoSyncPolicy::Every(writes) => written(operations) / writes.max(1),
    };
    let waits_ns = match io.end {
        IoEnd::Time(ns) => ns,
        IoEnd::Bytes(_) | IoEnd::Operations(_) => {
            operations.saturating_mul(io.period_ns.unwrap_or(0))
        }
    };
    PhaseWork {
        calls: operations.saturating_add(syncs),
        syncs,
        // What only the drive decides is not guessed.
        streamed_bytes: if is_open { 0 } else { written(moved) },
        waits_ns,
        is_open,
        ..PhaseWork::default()
    }
}

fn of_transactions(work: &Transactions) -> PhaseWork {
    let is_closed = work.period_ns.is_none();
    let number = match work.end {
        IoEnd::Operations(number) => number,
        IoEnd::Time(ns) if is_closed => ns / work.think_ns.max(LONG_PAUSE_NS),
        IoEnd::Time(ns) => ns.div_ceil(work.pause_ns().max(1)),
        IoEnd::Bytes(_) => 0,
    };
    let is_open = is_closed && matches!(work.end, IoEnd::Time(_)) && work.think_ns < LONG_PAUSE_NS;
    let pages = number.saturating_mul(work.pages + 1);
    let changed = match work.journal {
        // The old page into the journal, and the new one.
        JournalMode::Rollback => pages.saturating_mul(2),
        // The new page into the log, which reaches the database when it is full.
        JournalMode::Wal => {
            let moved = distinct(work.database_pages, CHECKPOINT_FRAMES);
            pages.saturating_add((pages / CHECKPOINT_FRAMES).saturating_mul(moved))
        }
    };
    let syncs = match (work.synchronous, work.journal) {
        (Synchronous::Full, JournalMode::Rollback) => 4,
        (Synchronous::Normal, JournalMode::Rollback) => 3,
        (Synchronous::Full, JournalMode::Wal) => 1,
        (Synchronous::Normal, JournalMode::Wal) | (Synchronous::Off, _) => 0,
    };
    let committed = if is_open { 0 } else { changed.saturating_mul(PAGE_BYTES as u64) };
    PhaseWork {
        calls: number.saturating_mul(CALLS_OF_A_TRANSACTION),
        syncs: number.saturating_mul(syncs),
        bytes: work.streamed_bytes().saturating_add(committed),
        waits_ns: work.lasts_ns(),
        is_open,
        ..PhaseWork::default()
    }
}

/// A commit writes and syncs a block of the log, with the images of pages that it is the first to
/// change; a checkpoint writes each changed page.
fn of_database(database: Database) -> PhaseWork {
    let Database { shape, commits, think_ns } = database;
    let DatabaseShape { page_bytes, table_pages, pages, checkpoint_every, torn_pages } = shape;
    let (commits, every) = (u64::from(commits), u64::from(checkpoint_every).max(1));
    let changed = |commits: u64| {
        let pages = distinct(table_pages.into(), commits.saturating_mul(pages.into()));
        pages.saturating_mul(page_bytes.into())
    };
    let (checkpoints, rest) = (commits / every, commits % every);
    let checkpointed = checkpoints.saturating_mul(changed(every));
    let copies = match torn_pages {
        TornPages::Nothing => 0,
        TornPages::FullPages => checkpointed.saturating_add(changed(rest)),
        TornPages::DoubleWrite => checkpointed,
    };
    let log = commits.saturating_mul(LOG_BLOCK_BYTES as u64);
    PhaseWork {
        calls: database.calls(),
        syncs: commits.saturating_add(checkpoints.saturating_mul(2)),
        bytes: log.saturating_add(checkpointed).saturating_add(copies),
        waits_ns: commits.saturating_mul(think_ns),
        ..PhaseWork::default()
    }
}

/// The number of different ones among `drawn` of `all`, drawn independently: its expectation.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is at most `all`")]
fn distinct(all: u64, drawn: u64) -> u64 {
    let all = all as f64;
    let missed = if all > 0.0 { ((1.0 - 1.0 / all).ln() * drawn as f64).exp() } else { 1.0 };
    (all * (1.0 - missed)).round() as u64
}

fn of_replace(replace: Replace) -> PhaseWork {
    let operations = replace.operations();
    let syncs = u64::from(replace.sync.file()) + u64::from(replace.sync.directory());
    PhaseWork {
        calls: operations.saturating_mul(CALLS_TO_MAKE),
        syncs: operations.saturating_mul(syncs),
        bytes: operations.saturating_mul(REPLACED_BYTES as u64),
        waits_ns: operations.saturating_mul(replace.think_ns),
        ..PhaseWork::default()
    }
}

fn of_append(append: Append) -> PhaseWork {
    let records = u64::from(append.records);
    PhaseWork {
        calls: records,
        syncs: append.sync_every.map_or(0, |every| records / u64::from(every).max(1)),
        bytes: append.written_bytes(),
        waits_ns: records.saturating_mul(append.think_ns),
        ..PhaseWork::default()
    }
}

fn of_bonnie(test: BonnieTest, bonnie: &Bonnie) -> PhaseWork {
    let chunks = bonnie.size_bytes / bonnie.chunk_bytes;
    let moved = |calls, bytes| PhaseWork { calls, bytes, ..PhaseWork::default() };
    let asked = match test {
        BonnieTest::SeqOutputChar => moved(bonnie.char_bytes, bonnie.char_bytes),
        BonnieTest::SeqInputChar => moved(bonnie.char_bytes, 0),
        BonnieTest::SeqOutputBlock => moved(chunks, bonnie.size_bytes),
        BonnieTest::Rewrite => moved(2 * chunks, bonnie.size_bytes),
        BonnieTest::SeqInputBlock => moved(chunks, 0),
        BonnieTest::RandomSeek => {
            let written = u64::from(bonnie.seeks) / SEEKS_PER_WRITE;
            moved(3 * u64::from(bonnie.seeks), written.saturating_mul(bonnie.chunk_bytes))
        }
        BonnieTest::SeqCreate | BonnieTest::RandomCreate => PhaseWork {
            // Each is looked for among those before it in its directory.
            searched_entries: bonnie.files.saturating_mul(bonnie.files) / 2 / bonnie.directories,
            ..moved(
                CALLS_TO_MAKE * bonnie.files,
                bonnie.files * u64::midpoint(bonnie.file_bytes.0, bonnie.file_bytes.1),
            )
        },
        BonnieTest::SeqStat | BonnieTest::RandomStat => moved(bonnie.files, 0),
        BonnieTest::SeqDelete | BonnieTest::RandomDelete => {
            moved(CALLS_TO_DELETE * bonnie.files, 0)
        }
    };
    // A test that ends sooner is repeated.
    let is_open = bonnie.least_ns > 0 && asked.bytes > 0;
    PhaseWork { waits_ns: bonnie.least_ns, is_open, ..asked }
}
