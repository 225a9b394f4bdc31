//! Runs a job: keeps its operations in flight, and counts them as they complete.

use std::collections::{BTreeSet, VecDeque};
use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::thread::{current_timer_slack, set_current_timer_slack};
use ssdlab_plan::io::{Io, IoContents, IoEnd, IoPattern, IoSyncPolicy, SyncBy};

use crate::engine::operations::{EngineOperation, EngineOperations};
use crate::engine::ring::EngineRing;
use crate::engine::{BLOCK_BYTES, EngineError, EngineOperationKind, OperationTally};

/// Writes cycle through buffers of at least this total size, twice the largest unit of compression
/// (128 KiB, for btrfs and zfs), so that none contains the same bytes twice.
const CONTENTS_BYTES: usize = 256 << 10;

/// Bytes at the start of each written block that make it unique: its offset and the number of the
/// operation, to defeat deduplication.
const STAMP_BYTES: usize = 16;

/// The maximum sleep of an open load between calls of `go_on`.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The I/O to perform on files.
#[derive(Debug, Clone, Copy)]
pub struct EngineJob<'a> {
    /// What to read and write, how, and for how long.
    pub io: &'a Io,
    /// The files, which operations use in turn, opened as the I/O demands.
    pub files: &'a [File],
    /// What is written as text. There should be more of it than a compressor remembers.
    pub text: &'a [u8],
    /// The seed for offsets, kinds, sizes and random contents.
    pub seed: u64,
}

/// The result of a job.
#[derive(Debug, Clone, Default)]
pub struct EngineOutcome {
    pub reads: OperationTally,
    pub writes: OperationTally,
    pub syncs: OperationTally,
}

impl EngineOutcome {
    /// Reads and writes together.
    pub fn moved(&self) -> OperationTally {
        let mut moved = self.reads.clone();
        moved.add(&self.writes);
        moved
    }
}

/// Runs a job to its end. `go_on` is called between operations with the time since the start; the
/// job stops when it returns false.
pub fn run(
    job: &EngineJob<'_>,
    go_on: &mut dyn FnMut(Duration) -> bool,
) -> Result<EngineOutcome, EngineError> {
    let punctual = job.io.period_ns.map(|_| PunctualThread::new());
    let mut running = Running::new(job)?;
    let mut now = Duration::ZERO;
    loop {
        if !go_on(now) {
            return Err(EngineError::Stopped);
        }
        running.issue(now);
        let wait = running.until_due(now);
        if running.ring.in_flight() > 0 {
            running.ring.wait(wait).map_err(|cause| EngineError::Enter { cause })?;
        } else if let Some(wait) = wait {
            sleep(wait.min(POLL_INTERVAL));
        } else {
            break;
        }
        now = running.started.elapsed();
        while let Some((slot, result)) = running.ring.completed() {
            running.finish(slot, result, now)?;
        }
    }
    drop(punctual);
    let EngineOutcome { reads, writes, syncs } = running.outcome;
    let took = |counted| OperationTally { took: now, ..counted };
    Ok(EngineOutcome { reads: took(reads), writes: took(writes), syncs: took(syncs) })
}

/// A running job.
struct Running<'a> {
    job: &'a EngineJob<'a>,
    depth: usize,
    ring: EngineRing,
    operations: EngineOperations<'a>,
    /// Each slot's operation, and the start of its latency.
    slots: Vec<(EngineOperation, Duration)>,
    /// Idle slots, the longest idle first.
    idle: VecDeque<usize>,
    /// Reads and writes issued.
    issued: u64,
    issued_bytes: u64,
    /// Writes since the last sync, and the files that they were to.
    unsynced: u64,
    dirty: BTreeSet<usize>,
    is_syncing: bool,
    outcome: EngineOutcome,
    started: Instant,
}

impl<'a> Running<'a> {
    fn new(job: &'a EngineJob<'a>) -> Result<Self, EngineError> {
        let io = job.io;
        let largest_bytes = io.largest_block_bytes() as usize;
        let slot_bytes = largest_bytes.next_multiple_of(BLOCK_BYTES);
        let writes = io.read_share < 1.0;
        let depth = io.depth as usize;
        let slots = depth.max(if writes { CONTENTS_BYTES.div_ceil(slot_bytes) } else { 0 });
        let mut ring = EngineRing::new(job.files, slots, slot_bytes)?;
        // A stream independent of the operations.
        let mut random = Xoshiro256PlusPlus::seed_from_u64(!job.seed);
        let mut text = job.text.iter().cycle();
        for slot in 0..slots {
            let buffer = ring.buffer(slot);
            match io.contents {
                IoContents::Random => random.fill_bytes(buffer),
                IoContents::Text => buffer.iter_mut().zip(&mut text).for_each(|(own, b)| *own = *b),
                IoContents::Zeros => buffer.fill(0),
            }
        }
        let nothing = sync(0);
        Ok(Self {
            job,
            depth,
            ring,
            operations: EngineOperations::of(io, job.seed, starts(job)?),
            slots: vec![(nothing, Duration::ZERO); slots],
            idle: (0..slots).collect(),
            issued: 0,
            issued_bytes: 0,
            unsynced: 0,
            dirty: BTreeSet::new(),
            is_syncing: false,
            outcome: EngineOutcome::default(),
            started: Instant::now(),
        })
    }

    /// Queues all operations that may start now.
    fn issue(&mut self, now: Duration) {
        while self.ring.in_flight() < self.depth
            && let Some((operation, due)) = self.next(now)
        {
            let slot = self.idle.pop_front().expect("there are slots for the whole depth");
            if operation.kind == EngineOperationKind::Write
                && self.job.io.contents != IoContents::Zeros
            {
                self.stamp(slot, operation.offset, operation.length);
            }
            self.slots[slot] = (operation, due.unwrap_or_else(|| self.started.elapsed()));
            self.ring.queue(slot, operation, self.job.io.sync_by);
        }
    }

    /// The next operation, if it may start now, and its due time under an open load.
    fn next(&mut self, now: Duration) -> Option<(EngineOperation, Option<Duration>)> {
        if self.is_syncing {
            return None;
        }
        if self.is_sync_due(now) {
            self.is_syncing = self.ring.in_flight() == 0;
            let file = self.dirty.first().copied().filter(|_| self.is_syncing)?;
            return Some((sync(file), None));
        }
        if self.is_over(now) || self.due().is_some_and(|due| due > now) {
            return None;
        }
        let due = self.due();
        let operation = self.operations.next();
        self.issued += 1;
        self.issued_bytes += u64::from(operation.length);
        if operation.kind == EngineOperationKind::Write {
            self.unsynced += 1;
            self.dirty.insert(operation.file);
        }
        Some((operation, due))
    }

    fn is_over(&self, now: Duration) -> bool {
        match self.job.io.end {
            IoEnd::Bytes(bytes) => self.issued_bytes >= bytes,
            IoEnd::Operations(operations) => self.issued >= operations,
            // Operations that are due in time are performed, however late.
            IoEnd::Time(ns) => self.due().unwrap_or(now) >= Duration::from_nanos(ns),
        }
    }

    /// Whether to sync before anything else. A sync starts when all earlier operations are
    /// complete, and later ones wait for it. Of several files it syncs those written since the last
    /// one, one after the other.
    fn is_sync_due(&self, now: Duration) -> bool {
        match self.job.io.sync {
            // The flag that the files were opened with does it.
            _ if self.job.io.sync_by == SyncBy::ODsync => false,
            IoSyncPolicy::Never => false,
            IoSyncPolicy::AtEnd => self.unsynced > 0 && self.is_over(now),
            IoSyncPolicy::Every(writes) => self.unsynced >= writes,
        }
    }

    /// When the next operation of an open load is due.
    ///
    /// Operations of an open load are due whether or not earlier ones are complete, and latency
    /// counts from the due time, so that a stall affects all operations due meanwhile. In a closed
    /// load an operation starts when an earlier one ends, and a stall delays the operations that
    /// would have observed it ("coordinated omission"; G. Tene, "How NOT to Measure Latency",
    /// 2013). Throughput is what a closed load measures.
    fn due(&self) -> Option<Duration> {
        let period_ns = self.job.io.period_ns?;
        Some(Duration::from_nanos(period_ns.saturating_mul(self.issued)))
    }

    /// How long to wait for the next operation of an open load, if there is nothing else to do.
    fn until_due(&self, now: Duration) -> Option<Duration> {
        let waits = !self.is_over(now) && !self.is_syncing && !self.is_sync_due(now);
        let due = self.due().filter(|_| waits && self.ring.in_flight() < self.depth)?;
        Some(due.saturating_sub(now))
    }

    fn stamp(&mut self, slot: usize, offset: u64, length: u32) {
        let number = self.issued;
        let blocks = self.ring.buffer(slot)[..length as usize].chunks_mut(BLOCK_BYTES);
        for (block, at) in blocks.zip((offset..).step_by(BLOCK_BYTES)) {
            if let Some(stamp) = block.first_chunk_mut::<STAMP_BYTES>() {
                stamp[..8].copy_from_slice(&at.to_le_bytes());
                stamp[8..].copy_from_slice(&number.to_le_bytes());
            }
        }
    }

    /// Counts a completed operation.
    fn finish(
        &mut self,
        slot: usize,
        result: io::Result<u32>,
        now: Duration,
    ) -> Result<(), EngineError> {
        self.idle.push_back(slot);
        let (EngineOperation { kind, file, offset, length }, since) = self.slots[slot];
        let moved =
            result.map_err(|cause| EngineError::Operation { kind, offset, length, cause })?;
        if moved != length {
            return Err(EngineError::Short { kind, offset, length, moved });
        }
        let counted = match kind {
            EngineOperationKind::Read => &mut self.outcome.reads,
            EngineOperationKind::Write => &mut self.outcome.writes,
            EngineOperationKind::Sync => {
                self.is_syncing = false;
                self.dirty.remove(&file);
                if self.dirty.is_empty() {
                    self.unsynced = 0;
                }
                &mut self.outcome.syncs
            }
        };
        counted.count(now, now.saturating_sub(since));
        counted.bytes += u64::from(length);
        Ok(())
    }
}

/// Where the first operation on each file goes, unless that is random.
fn starts(job: &EngineJob<'_>) -> Result<Vec<u64>, EngineError> {
    let start = |file: &File| match job.io.pattern {
        IoPattern::Append => Ok(file.metadata()?.len()),
        IoPattern::Random | IoPattern::Sequential => Ok(0),
    };
    let starts: io::Result<_> = job.files.iter().map(start).collect();
    starts.map_err(|cause| EngineError::Length { cause })
}

/// A sync of the file with this index.
const fn sync(file: usize) -> EngineOperation {
    EngineOperation { kind: EngineOperationKind::Sync, file, offset: 0, length: 0 }
}

/// While it lives, this thread wakes up on time instead of up to 50 us late (prctl(2),
/// `PR_SET_TIMERSLACK`).
struct PunctualThread(Option<NonZeroU64>);

impl PunctualThread {
    fn new() -> Self {
        let before = current_timer_slack().ok().and_then(NonZeroU64::new);
        // If this fails, an operation may start late, which its latency shows.
        let _ = set_current_timer_slack(NonZeroU64::new(1));
        Self(before)
    }
}

impl Drop for PunctualThread {
    fn drop(&mut self) {
        let _ = set_current_timer_slack(self.0);
    }
}
