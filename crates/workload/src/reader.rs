//! A small concurrent reader that measures the latency seen by other programs during a phase.
//!
//! It reads 4 KiB at a random offset of its own file, by direct I/O, every ten milliseconds. A read
//! that takes longer delays those due meanwhile; their wait counts, too, or a stall of a minute
//! would be one slow read among thousands of fast ones (the "coordinated omission" of G. Tene,
//! which hdrhistogram corrects).

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::fs::{Mode, OFlags};
use rustix::thread::gettid;
use ssdlab_stats::latency::LatencySummary;

use super::synthetic::content::ContentPool;
use crate::engine::{Aligned, BLOCK_BYTES, LONGEST_NS};

/// The size of the reader's file in blocks: 16 MiB.
const BLOCKS: u64 = 4096;

/// The interval between reads.
const PERIOD: Duration = Duration::from_millis(10);

/// A reader and its file.
#[derive(Debug)]
pub struct ConcurrentReader {
    file: File,
    seed: u64,
}

impl ConcurrentReader {
    /// Makes and syncs the reader's file.
    pub fn make(path: &Path, pool: &ContentPool, seed: u64) -> io::Result<()> {
        let file = OpenOptions::new().write(true).create_new(true).open(path)?;
        let mut block = [0; BLOCK_BYTES];
        for index in 0..BLOCKS {
            let offset = index * BLOCK_BYTES as u64;
            pool.fill_binary(seed, offset, &mut block);
            file.write_all_at(&block, offset)?;
        }
        file.sync_all()
    }

    /// Opens the file.
    pub fn open(path: &Path, seed: u64) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECT | OFlags::CLOEXEC;
        Ok(Self { file: File::from(rustix::fs::open(path, flags, Mode::empty())?), seed })
    }

    /// Does the work, and reads at least once until it is done. `begins` is told the thread that
    /// reads.
    pub fn beside<T>(
        &self,
        begins: Option<&(dyn Fn(u32) + Sync)>,
        work: impl FnOnce() -> T,
    ) -> (T, io::Result<Reads>) {
        beside(work, |over| {
            if let Some(begins) = begins {
                begins(gettid().as_raw_nonzero().get().cast_unsigned());
            }
            self.read_until(over)
        })
    }

    fn read_until(&self, over: &WorkEnd) -> io::Result<Reads> {
        let mut reads = Vec::new();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        let mut block = Aligned::new(BLOCK_BYTES);
        let mut due = Instant::now();
        loop {
            let started = Instant::now();
            let offset = random.next_u64() % BLOCKS * BLOCK_BYTES as u64;
            self.file.read_exact_at(block.bytes(), offset)?;
            reads.push(Read { started, took: started.elapsed() });
            due = (due + PERIOD).max(Instant::now());
            sleep(due.saturating_duration_since(Instant::now()));
            if over.is_set() {
                break;
            }
        }
        Ok(Reads(reads))
    }
}

/// The reads beside a phase, in order.
#[derive(Debug)]
pub struct Reads(Vec<Read>);

#[derive(Debug, Clone, Copy)]
struct Read {
    started: Instant,
    took: Duration,
}

impl Reads {
    /// The metrics, by name, of the reads that count, by when each began and ended.
    pub fn metrics(&self, counts: impl Fn(Instant, Instant) -> bool) -> BTreeMap<String, f64> {
        let mut latencies = Histogram::<u64>::new_with_max(LONGEST_NS, 3).expect("it is in range");
        let period = u64::try_from(PERIOD.as_nanos()).expect("it is short");
        let mut reads = 0_u64;
        for Read { started, took } in &self.0 {
            if !counts(*started, *started + *took) {
                continue;
            }
            reads += 1;
            let took = u64::try_from(took.as_nanos()).unwrap_or(LONGEST_NS);
            // In range, because it is clamped.
            let _ = latencies.record_correct(took.clamp(1, LONGEST_NS), period);
        }
        let latency = LatencySummary::of(&latencies).unwrap_or_default();
        let of = |name: &str, value: u64| (format!("reader.{name}"), value as f64);
        BTreeMap::from([
            of("p50_ns", latency.p50_ns),
            of("p99_ns", latency.p99_ns),
            of("max_ns", latency.max_ns),
            of("reads", reads),
        ])
    }
}

/// Whether the work is done.
#[derive(Debug, Default)]
pub(super) struct WorkEnd(AtomicBool);

impl WorkEnd {
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Does the work on this thread and something else on another, which polls whether it is over.
pub(super) fn beside<T, U: Send>(
    work: impl FnOnce() -> T,
    other: impl FnOnce(&WorkEnd) -> io::Result<U> + Send,
) -> (T, io::Result<U>) {
    let over = WorkEnd::default();
    thread::scope(|scope| {
        let working = scope.spawn(|| other(&over));
        // Even if the work panics: the scope waits for the other thread.
        let ends = WorkEndGuard(&over);
        let done = work();
        drop(ends);
        let other = working.join().unwrap_or_else(|_| Err(io::Error::other("it panicked")));
        (done, other)
    })
}

/// Ends the other thread when dropped.
struct WorkEndGuard<'a>(&'a WorkEnd);

impl Drop for WorkEndGuard<'_> {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}
