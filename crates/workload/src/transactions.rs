//! Small transactions as `SQLite` commits them, each timed.
//!
//! Sources: "Atomic Commit In `SQLite`", section 3, and "Database File Format", sections 3 (the
//! rollback journal) and 4 (the write-ahead log), both on sqlite.org. The system calls of a
//! rollback commit, their order and sizes, are those that strace(1) shows of `SQLite` 3.40: a
//! header of a sector of 512 bytes; number, content and checksum of each old page; a sync of the
//! journal and one of the directory; the header again, now with the number of pages, and a second
//! sync; the new pages, and a third; and the journal's end, which is the commit. The first page,
//! which counts the changes, is in every transaction. Pages that `SQLite` reads are cached.
//!
//! That is `synchronous=FULL`. With `NORMAL` a rollback journal is synced once, with its header as
//! it will be, and a log only before it is moved into the database; with `OFF` nothing is synced
//! ("PRAGMA synchronous", and strace(1) of 3.40).

use std::os::fd::OwnedFd;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::engine::OperationTally;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::fs::{AtFlags, Mode, OFlags, fdatasync, ftruncate, openat, unlinkat};
use rustix::io::Errno;
use ssdlab_host::program::Rules;
use ssdlab_host::thread::used;
use ssdlab_plan::io::IoEnd;
use ssdlab_plan::transactions::{
    DATABASE, JournalMode, PAGE_BYTES, STREAM, STREAM_BYTES, Synchronous, Transactions,
};

use super::io::metrics;
use super::player::{DIRECTORY_OR_LINK, check_rules, open_directory, write_all_at};
use super::reader::{WorkEnd, beside};
use super::synthetic::content::ContentPool;
use super::{PhaseContext, PhaseOutcome, WorkloadError, open_load};

/// The rollback journal and the log, next to the database.
const JOURNAL: &str = "database-journal";
const LOG: &str = "database-wal";

/// `SQLite`'s sector: the size of a rollback journal's header, in bytes.
const SECTOR_BYTES: usize = 512;

/// A log's header and that of each of its frames, in bytes.
const LOG_HEADER_BYTES: usize = 32;
const FRAME_HEADER_BYTES: usize = 24;

/// Frames after which `SQLite` moves the log into the database.
const CHECKPOINT_FRAMES: usize = 1000;

/// The maximum wait between checks whether the phase must stop.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The size of a write of the concurrent writer, in bytes.
const STREAM_CHUNK_BYTES: usize = 1 << 20;

/// The start of a rollback journal: `SQLite`'s magic and, from the eighth byte on, the number of
/// pages.
const JOURNAL_HEAD: [u8; 12] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7, 0, 0, 0, 0];

const NEW: OFlags =
    OFlags::RDWR.union(OFlags::CREATE).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

const MODE: Mode = Mode::RUSR.union(Mode::WUSR);

/// Commits a phase's transactions, with a concurrent writer if it has one.
pub(super) fn run(
    work: &Transactions,
    pool: &ContentPool,
    seed: u64,
    place: PhaseContext<'_>,
) -> Result<PhaseOutcome, WorkloadError> {
    let mut database = Database::open(work, pool, seed, place)?;
    let Some(rate) = work.beside_bytes_per_second else {
        let transactions = perform(work, &mut database, place)?;
        return Ok(database.done(transactions));
    };
    let stream = openat(&database.directory, STREAM, NEW | OFlags::TRUNC, MODE)
        .map_err(WorkloadError::operation("make", STREAM))?;
    let (transactions, streamed) = beside(
        || perform(work, &mut database, place),
        |over| Ok((self::stream(&stream, rate, pool, seed, over)?, used())),
    );
    let transactions = transactions?;
    let (streamed, threads) = streamed.map_err(|cause| {
        let path = format!("{STREAM}, beside the transactions");
        WorkloadError::Operation { step: "write", path, cause }
    })?;
    let took = transactions.took.as_secs_f64();
    let mut done = PhaseOutcome { threads, ..database.done(transactions) };
    done.application_bytes = done.application_bytes.map(|bytes| bytes + streamed);
    done.reported.insert("beside.bytes_per_second".to_owned(), streamed as f64 / took);
    Ok(done)
}

/// Commits one transaction after the other.
fn perform(
    work: &Transactions,
    database: &mut Database<'_>,
    place: PhaseContext<'_>,
) -> Result<OperationTally, WorkloadError> {
    let mut transactions = OperationTally::new();
    let started = Instant::now();
    // In a closed load, the end of the last transaction plus think time.
    let mut due = Duration::ZERO;
    loop {
        let is_over = match work.end {
            IoEnd::Operations(operations) => transactions.operations >= operations,
            IoEnd::Bytes(bytes) => database.disk.written_bytes >= bytes,
            IoEnd::Time(nanos) => due >= Duration::from_nanos(nanos),
        };
        if is_over {
            break;
        }
        wait_until(due, started, place.rules)?;
        // Only in an open load a transaction can wait before it starts.
        let since = if work.period_ns.is_some() { due } else { started.elapsed() };
        database.commit()?;
        let now = started.elapsed();
        transactions.count(now, now.saturating_sub(since));
        due = match work.period_ns {
            Some(period) => due + Duration::from_nanos(period),
            None => now + Duration::from_nanos(work.think_ns),
        };
    }
    transactions.took = started.elapsed();
    Ok(transactions)
}

/// Waits until a transaction is due, unless the phase must stop before.
pub(super) fn wait_until(
    due: Duration,
    started: Instant,
    rules: Rules<'_>,
) -> Result<(), WorkloadError> {
    loop {
        let now = started.elapsed();
        check_rules(rules, now)?;
        let left = due.saturating_sub(now);
        if left.is_zero() {
            return Ok(());
        }
        sleep(left.min(POLL_INTERVAL));
    }
}

/// Writes to a file at a rate, through the page cache, at least once and until the transactions are
/// over; returns the number of bytes. A file that reaches its maximum size is truncated and
/// restarted.
fn stream(
    file: &OwnedFd,
    rate: u64,
    pool: &ContentPool,
    seed: u64,
    over: &WorkEnd,
) -> Result<u64, Errno> {
    let mut chunk = vec![0; STREAM_CHUNK_BYTES];
    let period = Duration::from_secs_f64(chunk.len() as f64 / rate as f64);
    let started = Instant::now();
    let (mut due, mut streamed) = (Duration::ZERO, 0);
    loop {
        let offset = streamed % STREAM_BYTES;
        if offset == 0 && streamed > 0 {
            ftruncate(file, 0)?;
        }
        pool.fill_binary(seed, streamed, &mut chunk);
        write_all_at(file, &chunk, offset)?;
        streamed += chunk.len() as u64;
        due += period;
        while !over.is_set()
            && let left = due.saturating_sub(started.elapsed())
            && !left.is_zero()
        {
            sleep(left.min(POLL_INTERVAL));
        }
        if over.is_set() {
            return Ok(streamed);
        }
    }
}

/// A database, and the state of its transactions.
struct Database<'a> {
    work: &'a Transactions,
    directory: OwnedFd,
    file: OwnedFd,
    log: Option<Log>,
    random: Xoshiro256PlusPlus,
    disk: Disk<'a>,
}

/// A write-ahead log.
struct Log {
    file: OwnedFd,
    /// The pages of its frames, in order, that are not in the database yet.
    pages: Vec<u64>,
}

impl<'a> Database<'a> {
    fn open(
        work: &'a Transactions,
        pool: &'a ContentPool,
        seed: u64,
        place: PhaseContext<'_>,
    ) -> Result<Self, WorkloadError> {
        let failed = WorkloadError::operation;
        let directory = open_directory(place.directory)?;
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file =
            openat(&directory, DATABASE, flags, Mode::empty()).map_err(failed("open", DATABASE))?;
        let log = match work.journal {
            JournalMode::Rollback => None,
            JournalMode::Wal => {
                let file = openat(&directory, LOG, NEW, MODE).map_err(failed("make", LOG))?;
                Some(Log { file, pages: Vec::new() })
            }
        };
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let is_synced = work.synchronous != Synchronous::Off;
        Ok(Self { work, directory, file, log, random, disk: Disk::new(pool, seed, is_synced) })
    }

    fn commit(&mut self) -> Result<(), WorkloadError> {
        let pages = self.choose();
        if self.log.is_some() { self.log(pages) } else { self.keep_and_change(&pages) }
    }

    /// The pages that a transaction changes: the first, which counts the changes, and some others.
    fn choose(&mut self) -> Vec<u64> {
        let mut pages = vec![0];
        while pages.len() as u64 <= self.work.pages {
            let page = self.random.next_u64() % self.work.database_pages;
            if !pages.contains(&page) {
                pages.push(page);
            }
        }
        pages.sort_unstable();
        pages
    }

    /// With a rollback journal: keeps the old pages, then changes the database.
    fn keep_and_change(&mut self, pages: &[u64]) -> Result<(), WorkloadError> {
        let (failed, disk) = (WorkloadError::operation, &mut self.disk);
        let synchronous = self.work.synchronous;
        let journal =
            openat(&self.directory, JOURNAL, NEW, MODE).map_err(failed("make", JOURNAL))?;
        disk.write(&journal, JOURNAL, &[0; SECTOR_BYTES], 0)?;
        let mut at = SECTOR_BYTES as u64;
        for page in pages {
            let (number, content, checksum) = (to_number(*page), disk.page(), [0; 4]);
            for part in [&number[..], &content, &checksum] {
                disk.write(&journal, JOURNAL, part, at)?;
                at += part.len() as u64;
            }
        }
        if synchronous == Synchronous::Full {
            disk.sync(&journal, JOURNAL)?;
            self.sync_directory()?;
        }
        let disk = &mut self.disk;
        // A journal is valid only with the number of its pages.
        let mut head = JOURNAL_HEAD;
        head[8..].copy_from_slice(&to_number(pages.len() as u64));
        disk.write(&journal, JOURNAL, &head, 0)?;
        disk.sync(&journal, JOURNAL)?;
        if synchronous == Synchronous::Normal {
            self.sync_directory()?;
        }
        let disk = &mut self.disk;
        for page in pages {
            let content = disk.page();
            disk.write(&self.file, DATABASE, &content, page * PAGE_BYTES as u64)?;
        }
        disk.sync(&self.file, DATABASE)?;
        unlinkat(&self.directory, JOURNAL, AtFlags::empty()).map_err(failed("remove", JOURNAL))
    }

    /// Makes the journal's name durable.
    fn sync_directory(&mut self) -> Result<(), WorkloadError> {
        let directory = openat(&self.directory, ".", DIRECTORY_OR_LINK, Mode::empty())
            .map_err(WorkloadError::operation("open", "the directory"))?;
        self.disk.sync(&directory, "the directory")
    }

    /// With a write-ahead log: appends the new pages to it, and periodically checkpoints it into
    /// the database.
    fn log(&mut self, pages: Vec<u64>) -> Result<(), WorkloadError> {
        let (Some(log), disk) = (&mut self.log, &mut self.disk) else { return Ok(()) };
        if log.pages.is_empty() {
            disk.write(&log.file, LOG, &[0; LOG_HEADER_BYTES], 0)?;
            disk.sync(&log.file, LOG)?;
        }
        for page in pages {
            let frames = (FRAME_HEADER_BYTES + PAGE_BYTES) * log.pages.len();
            let at = (LOG_HEADER_BYTES + frames) as u64;
            let content = disk.page();
            disk.write(&log.file, LOG, &[0; FRAME_HEADER_BYTES], at)?;
            disk.write(&log.file, LOG, &content, at + FRAME_HEADER_BYTES as u64)?;
            log.pages.push(page);
        }
        let is_full = log.pages.len() >= CHECKPOINT_FRAMES;
        if is_full || self.work.synchronous == Synchronous::Full {
            disk.sync(&log.file, LOG)?;
        }
        if !is_full {
            return Ok(());
        }
        log.pages.sort_unstable();
        log.pages.dedup();
        for page in log.pages.drain(..) {
            let content = disk.page();
            disk.write(&self.file, DATABASE, &content, page * PAGE_BYTES as u64)?;
        }
        disk.sync(&self.file, DATABASE)
    }

    fn done(self, transactions: OperationTally) -> PhaseOutcome {
        let syncs = OperationTally { took: transactions.took, ..self.disk.syncs };
        let remark = open_load::remark(&transactions, self.work.period_ns);
        PhaseOutcome {
            application_bytes: Some(self.disk.written_bytes),
            counted: Some(transactions),
            reported: metrics("sync", &syncs).into_iter().collect(),
            remark,
            ..PhaseOutcome::default()
        }
    }
}

/// Writes and syncs files, and counts both.
struct Disk<'a> {
    pool: &'a ContentPool,
    seed: u64,
    /// Whether anything is synced at all.
    is_synced: bool,
    written_bytes: u64,
    syncs: OperationTally,
    started: Instant,
}

impl<'a> Disk<'a> {
    fn new(pool: &'a ContentPool, seed: u64, is_synced: bool) -> Self {
        let (syncs, started) = (OperationTally::new(), Instant::now());
        Self { pool, seed, is_synced, written_bytes: 0, syncs, started }
    }

    /// The contents of a page, different each time.
    fn page(&self) -> [u8; PAGE_BYTES] {
        let mut page = [0; PAGE_BYTES];
        self.pool.fill_binary(self.seed, self.written_bytes & !(PAGE_BYTES as u64 - 1), &mut page);
        page
    }

    fn write(
        &mut self,
        file: &OwnedFd,
        name: &str,
        data: &[u8],
        at: u64,
    ) -> Result<(), WorkloadError> {
        self.written_bytes += data.len() as u64;
        write_all_at(file, data, at).map_err(WorkloadError::operation("write", name))
    }

    fn sync(&mut self, file: &OwnedFd, name: &str) -> Result<(), WorkloadError> {
        if !self.is_synced {
            return Ok(());
        }
        let before = self.started.elapsed();
        fdatasync(file).map_err(WorkloadError::operation("sync", name))?;
        let now = self.started.elapsed();
        self.syncs.count(now, now.saturating_sub(before));
        Ok(())
    }
}

/// A number in the format of `SQLite`'s files: 32 bits, big-endian.
fn to_number(number: u64) -> [u8; 4] {
    u32::try_from(number).unwrap_or(u32::MAX).to_be_bytes()
}

#[cfg(test)]
mod tests;
