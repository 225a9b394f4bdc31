//! Random seeks: several threads read chunks at random offsets and write back one in ten.
//!
//! As in `CFileOp::seek_test` of `bon_io.cpp`, all seeks are drawn before the clock starts, and
//! each free seeker takes the next one; each opens the file itself. The clock runs from the first
//! seeker's start until the last has synced and closed its file. bonnie++ distributes seeks to
//! processes through a pipe; here threads take them from a list, which needs no system call, and
//! use positioned reads and writes instead of seeking.

use std::os::fd::OwnedFd;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::fsync;
use ssdlab_host::program::Rules;
use ssdlab_host::thread::{Usage, used};
use ssdlab_plan::Bonnie;

use super::super::player::{check_rules, read_exact_at, write_all_at};
use super::super::{PhaseOutcome, WorkloadError};
use super::clock::PassClock;
use super::transfers::{error, open};
use crate::synthetic::bonnie::{Chunks, Seek};

/// The seekers of a trial, and their file.
pub(super) struct Seekers<'a> {
    pub sizes: &'a Bonnie,
    pub held: Chunks,
    pub rules: Rules<'a>,
    pub directory: &'a OwnedFd,
    pub is_cold: bool,
}

/// What a seeker did, with times since a common start.
#[derive(Default)]
struct SeekerResult {
    began: Duration,
    ended: Duration,
    /// When each seek ended, and how long it took.
    operations: Vec<(Duration, Duration)>,
    written_bytes: u64,
    used: Usage,
}

impl Seekers<'_> {
    /// `random_seek`. Returns the number of seeks made on the file so far as well.
    pub fn seek(&self, mut clock: PassClock<'_>) -> Result<(PhaseOutcome, u64), WorkloadError> {
        let mut done = PhaseOutcome::wrote(0);
        let mut made = self.held.seeks.made;
        // Seeks continue where an earlier test of the trial ended.
        let mut all = self.held.seeks.all().skip(usize::try_from(made).unwrap_or(usize::MAX));
        let mut bytes = 0;
        while clock.is_short() {
            let seeks: Vec<Seek> = all.by_ref().take(self.sizes.seeks as usize).collect();
            let sought = self.pass(&seeks)?;
            let began = sought.iter().map(|one| one.began).min().unwrap_or_default();
            let ended = sought.iter().map(|one| one.ended).max().unwrap_or_default();
            let since = |(at, latency): &(Duration, Duration)| (at.saturating_sub(began), *latency);
            let operations: Vec<_> =
                sought.iter().flat_map(|one| one.operations.iter().map(since)).collect();
            clock.add(ended.saturating_sub(began), &operations);
            made += seeks.len() as u64;
            bytes += seeks.len() as u64 * self.sizes.chunk_bytes;
            let written_bytes: u64 = sought.iter().map(|one| one.written_bytes).sum();
            done.application_bytes = done.application_bytes.map(|bytes| bytes + written_bytes);
            for one in sought {
                done.threads += one.used;
            }
        }
        done.counted = Some(clock.counted(bytes));
        Ok((done, made))
    }

    /// All seekers at once, until all seeks are made.
    fn pass(&self, seeks: &[Seek]) -> Result<Vec<SeekerResult>, WorkloadError> {
        let files: Result<Vec<_>, _> =
            (0..self.sizes.seekers).map(|_| open(self.directory, self.is_cold)).collect();
        let files = files?;
        let (next, ready) = (AtomicUsize::new(0), Barrier::new(files.len()));
        let origin = Instant::now();
        let work = |file| {
            ready.wait();
            let sought = self.until_none_is_left(&file, seeks, &next, origin);
            let synced = fsync(&file).map_err(error("sync"));
            drop(file);
            let ended = origin.elapsed();
            synced.and(sought).map(|sought| SeekerResult { ended, used: used(), ..sought })
        };
        thread::scope(|scope| {
            let start = |file| scope.spawn(move || work(file));
            let seekers: Vec<_> = files.into_iter().map(start).collect();
            let end = |seeker: thread::ScopedJoinHandle<'_, _>| {
                seeker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            seekers.into_iter().map(end).collect()
        })
    }

    fn until_none_is_left(
        &self,
        file: &OwnedFd,
        seeks: &[Seek],
        next: &AtomicUsize,
        origin: Instant,
    ) -> Result<SeekerResult, WorkloadError> {
        let began = origin.elapsed();
        let mut sought = SeekerResult { began, ..SeekerResult::default() };
        sought.operations.reserve(seeks.len() / self.sizes.seekers as usize * 2);
        let mut buffer = vec![0; self.held.chunk_bytes];
        let mut last = began;
        while let Some(seek) = seeks.get(next.fetch_add(1, Ordering::Relaxed)) {
            sought.written_bytes += self.one(file, *seek, &mut buffer)?;
            let now = origin.elapsed();
            sought.operations.push((now, now.saturating_sub(last)));
            last = now;
            check_rules(self.rules, now)?;
        }
        Ok(sought)
    }

    /// `CFileOp::doseek`; returns the bytes it wrote.
    fn one(&self, file: &OwnedFd, seek: Seek, buffer: &mut [u8]) -> Result<u64, WorkloadError> {
        let offset = seek.chunk * self.sizes.chunk_bytes;
        read_exact_at(file, buffer, offset).map_err(error("read"))?;
        if !seek.writes {
            return Ok(0);
        }
        buffer[self.held.changed_at(seek.chunk)] = self.held.touched(seek.chunk);
        write_all_at(file, buffer, offset).map_err(error("write"))?;
        if self.sizes.fsync_each {
            fsync(file).map_err(error("sync"))?;
        }
        Ok(self.sizes.chunk_bytes)
    }
}
