//! What a drive tells of itself within a minute: the questions of a probe, in which order they are
//! asked, and the summary of the answers.
//!
//! The questions are asked in small rounds, in random order within each, so that a change of the
//! drive or of its host during the probe affects all of them and shows as a spread. A
//! [`ProbedDrive`] answers them: a file on a real drive, or a [`SimulatedProbe`]. What a real drive
//! answers is compared with what simulated ones answer to the same questions ([`ProbeForecast`]).

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use ssdlab_stats::latency::LatencySummary;
use ssdlab_stats::{Interval, quantile_interval};

use crate::random::DriveRandom;
use crate::units::Nanos;

mod nearest;
mod simulated;

pub use nearest::{FITS_WITHIN, NearestDrive, ProbeForecast, forecast, ranked};
pub use simulated::{ProbeHost, SimulatedProbe};

/// How much of the drive is written before the first question.
pub const PROBE_FILE_BYTES: u64 = 256 << 20;

/// How much of it one call of [`ProbedDrive::fill`] writes.
pub const FILL_BYTES: u64 = 8 << 20;

/// The most that a probe writes.
pub const MOST_WRITTEN_BYTES: u64 = 640 << 20;

/// A drive that takes longer is filled only in part, and asked in fewer rounds.
const FILL_LIMIT: Nanos = Nanos(15_000_000_000);
const TIME_LIMIT: Nanos = Nanos(45_000_000_000);

/// Bursts that would take longer are left out.
const BURST_LIMIT: Nanos = Nanos(2_000_000_000);

const ROUNDS: u32 = 5;

/// The confidence of intervals: that of the least and the greatest of five rounds is 94 %.
const CONFIDENCE: f64 = 0.9;

const PAGE_BYTES: u32 = 4096;
const MIB: u64 = 1 << 20;

/// The part of the file that is near: small enough for any cache of a drive's map.
const NEAR_BYTES: u64 = 16 << 20;

/// What a request of a probe does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbeAccess {
    Read,
    Write,
    /// Writes, and then flushes.
    SyncedWrite,
    /// Writes with forced unit access.
    FuaWrite,
}

/// What is asked of the drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProbeQuestion {
    /// Random writes of 4 KiB one at a time, each followed by a flush.
    SyncedWrite,
    /// Random writes of 4 KiB one at a time, each with forced unit access.
    FuaWrite,
    /// Random writes of 4 KiB one at a time, neither flushed nor with forced unit access.
    Write,
    /// Random reads of 4 KiB one at a time, within 16 MiB.
    NearRead,
    /// Random reads of 4 KiB one at a time, anywhere in the file.
    Read,
    /// Random reads of 4 KiB, 32 at a time, within 16 MiB.
    DeepNearRead,
    /// Random reads of 4 KiB, 32 at a time, anywhere in the file.
    DeepRead,
    /// Random writes of 4 KiB, 32 at a time.
    DeepWrite,
    /// 1 MiB written in order, after a pause.
    Burst1,
    Burst4,
    Burst16,
    /// 32 MiB written in order.
    SequentialWrite,
    SequentialRead,
}

/// The requests of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbeLoad {
    pub access: ProbeAccess,
    pub is_sequential: bool,
    pub request_bytes: u32,
    pub depth: u32,
    /// Requests stay within the first bytes of the file.
    pub span_bytes: u64,
    /// The requests of the first part; each further one has twice as many.
    first: u64,
    /// The most requests in all.
    most: u64,
    /// No further part begins after this time.
    limit: Nanos,
    /// The idle time before.
    pause: Nanos,
}

impl ProbeQuestion {
    pub const ALL: [Self; 13] = [
        Self::SyncedWrite,
        Self::FuaWrite,
        Self::Write,
        Self::NearRead,
        Self::Read,
        Self::DeepNearRead,
        Self::DeepRead,
        Self::DeepWrite,
        Self::Burst1,
        Self::Burst4,
        Self::Burst16,
        Self::SequentialWrite,
        Self::SequentialRead,
    ];

    /// Its requests, on a file of so many bytes.
    pub fn load(self, file_bytes: u64) -> ProbeLoad {
        let near = NEAR_BYTES.min(file_bytes);
        let alone = |access, span_bytes| ProbeLoad {
            access,
            is_sequential: false,
            request_bytes: PAGE_BYTES,
            depth: 1,
            span_bytes,
            first: 4,
            most: 300,
            limit: Nanos(300_000_000),
            pause: Nanos(20_000_000),
        };
        let deep = |access, span_bytes| ProbeLoad {
            depth: 32,
            first: 32,
            most: 1000,
            ..alone(access, span_bytes)
        };
        let burst = |mib: u64| ProbeLoad {
            is_sequential: true,
            request_bytes: 128 << 10,
            depth: 8,
            first: mib * 8,
            most: mib * 8,
            pause: Nanos(100_000_000),
            ..alone(ProbeAccess::Write, file_bytes)
        };
        let synced = ProbeLoad {
            most: 520,
            limit: Nanos(800_000_000),
            ..alone(ProbeAccess::SyncedWrite, file_bytes)
        };
        match self {
            Self::SyncedWrite => synced,
            Self::FuaWrite => ProbeLoad { access: ProbeAccess::FuaWrite, ..synced },
            Self::Write => alone(ProbeAccess::Write, file_bytes),
            Self::NearRead => alone(ProbeAccess::Read, near),
            Self::Read => alone(ProbeAccess::Read, file_bytes),
            Self::DeepNearRead => deep(ProbeAccess::Read, near),
            Self::DeepRead => deep(ProbeAccess::Read, file_bytes),
            Self::DeepWrite => deep(ProbeAccess::Write, file_bytes),
            Self::Burst1 => burst(1),
            Self::Burst4 => burst(4),
            Self::Burst16 => burst(16),
            Self::SequentialWrite => burst(32),
            Self::SequentialRead => ProbeLoad {
                access: ProbeAccess::Read,
                first: 32,
                most: 224,
                pause: Nanos(20_000_000),
                ..burst(32)
            },
        }
    }
}

/// A part of a load, which is performed without a break.
#[derive(Debug, Clone, Copy)]
pub struct ProbePart {
    pub load: ProbeLoad,
    pub requests: u64,
    /// The seed of random places.
    pub seed: u64,
}

/// What a part took.
#[derive(Debug, Clone, Default)]
pub struct PartTimes {
    /// From the first request to the end of the last.
    pub elapsed: Nanos,
    /// Of each request, if they were performed one at a time.
    pub each: Vec<Nanos>,
    /// Of each flush alone.
    pub flushes: Vec<Nanos>,
}

/// What answers the questions of a probe.
pub trait ProbedDrive {
    type Error;

    /// Writes the next [`FILL_BYTES`] of the file from an offset on. Returns what it took.
    fn fill(&mut self, offset_bytes: u64) -> Result<Nanos, Self::Error>;

    fn perform(&mut self, part: &ProbePart) -> Result<PartTimes, Self::Error>;

    /// Makes everything written safe, and leaves the drive idle for a while.
    fn settle(&mut self, pause: Nanos) -> Result<(), Self::Error>;

    /// The time since the beginning.
    fn now(&self) -> Nanos;
}

/// The answer to one question.
#[derive(Debug, Clone, Default)]
pub struct ProbeAnswer {
    /// For each round the median of requests that were performed one at a time, otherwise the time
    /// per request; in ns, per MiB where requests are sequential.
    pub rounds: Vec<f64>,
    /// Requests one at a time.
    pub latencies: Option<LatencySummary>,
    /// Their flushes alone.
    pub flushes: Option<LatencySummary>,
    pub requests: u64,
    each: Vec<Nanos>,
    flush_each: Vec<Nanos>,
}

impl ProbeAnswer {
    /// The median of the rounds.
    pub fn median_ns(&self) -> f64 {
        median(&self.rounds)
    }

    /// The interval of that median, with infinite ends if there were too few rounds.
    pub fn interval_ns(&self) -> Interval {
        let mut sorted = self.rounds.clone();
        sorted.sort_by(f64::total_cmp);
        quantile_interval(&sorted, 0.5, CONFIDENCE)
    }

    fn add(&mut self, load: &ProbeLoad, requests: u64, last: (u64, Nanos), times: PartTimes) {
        let unit = if load.is_sequential { MIB / u64::from(load.request_bytes) } else { 1 };
        let alone: Vec<f64> = times.each.iter().map(|time| time.0 as f64).collect();
        // Of deeper loads the last part, the largest, is least affected by its ends.
        let per_request = last.1.0 as f64 / last.0.max(1) as f64;
        self.rounds.push(unit as f64 * if alone.is_empty() { per_request } else { median(&alone) });
        self.requests += requests;
        self.each.extend(times.each);
        self.flush_each.extend(times.flushes);
    }

    fn summarise(&mut self) {
        self.latencies = summary(&std::mem::take(&mut self.each));
        self.flushes = summary(&std::mem::take(&mut self.flush_each));
    }
}

/// What a drive has answered.
#[derive(Debug, Clone, Default)]
pub struct ProbeAnswers {
    /// The size of the file.
    pub file_bytes: u64,
    pub written_bytes: u64,
    pub took: Nanos,
    /// Bursts that the drive was too slow for are missing.
    pub answers: BTreeMap<ProbeQuestion, ProbeAnswer>,
}

impl ProbeAnswers {
    /// The median of an answer, in ns per request or per MiB.
    pub fn median_ns(&self, question: ProbeQuestion) -> Option<f64> {
        self.answers.get(&question).map(ProbeAnswer::median_ns)
    }

    /// The fastest round of an answer, in the same unit.
    pub fn fastest_ns(&self, question: ProbeQuestion) -> Option<f64> {
        self.answers.get(&question)?.rounds.iter().copied().min_by(f64::total_cmp)
    }
}

/// Asks a drive all questions. The seed determines their order and the places of requests;
/// `progress` receives the share that is done.
pub fn probe<D: ProbedDrive>(
    drive: &mut D,
    seed: u64,
    progress: &mut dyn FnMut(f64),
) -> Result<ProbeAnswers, D::Error> {
    let mut found = ProbeAnswers::default();
    let begun = drive.now();
    let mut fill_took = Nanos::ZERO;
    while found.file_bytes < PROBE_FILE_BYTES && fill_took < FILL_LIMIT {
        fill_took += drive.fill(found.file_bytes)?;
        found.file_bytes += FILL_BYTES;
        progress(0.3 * found.file_bytes as f64 / PROBE_FILE_BYTES as f64);
    }
    found.written_bytes = found.file_bytes;
    let ns_per_mib = fill_took.0 / (found.file_bytes / MIB);
    // Bursts are performed without a break.
    let is_short = |question: &ProbeQuestion| {
        let load = question.load(found.file_bytes);
        let bytes = load.first * u64::from(load.request_bytes);
        load.first < load.most || bytes * ns_per_mib < BURST_LIMIT.0 * MIB
    };
    let mut questions: Vec<_> = ProbeQuestion::ALL.into_iter().filter(is_short).collect();
    let mut random = DriveRandom::new(seed);
    for round in 0..ROUNDS {
        shuffle(&mut questions, &mut random);
        for (number, question) in questions.iter().enumerate() {
            let is_late = drive.now().since(begun) > TIME_LIMIT;
            if is_late && found.answers.contains_key(question) {
                continue;
            }
            ask(drive, *question, &mut random, &mut found)?;
            let round_done = (number + 1) as f64 / questions.len() as f64;
            progress(0.3 + 0.7 * (f64::from(round) + round_done) / f64::from(ROUNDS));
        }
    }
    found.answers.values_mut().for_each(ProbeAnswer::summarise);
    found.took = drive.now().since(begun);
    Ok(found)
}

/// Asks one question once.
fn ask<D: ProbedDrive>(
    drive: &mut D,
    question: ProbeQuestion,
    random: &mut DriveRandom,
    found: &mut ProbeAnswers,
) -> Result<(), D::Error> {
    let load = question.load(found.file_bytes);
    drive.settle(load.pause)?;
    let mut times = PartTimes::default();
    let (mut done, mut next, mut last) = (0, load.first, (0, Nanos::ZERO));
    while done + next <= load.most && times.elapsed < load.limit || done == 0 {
        let seed = u64::from(random.below(u32::MAX));
        let part = drive.perform(&ProbePart { load, requests: next, seed })?;
        last = (next, part.elapsed);
        times.elapsed += part.elapsed;
        times.each.extend(part.each);
        times.flushes.extend(part.flushes);
        done += next;
        next *= 2;
    }
    if load.access != ProbeAccess::Read {
        found.written_bytes += done * u64::from(load.request_bytes);
    }
    found.answers.entry(question).or_default().add(&load, done, last, times);
    Ok(())
}

/// Fisher and Yates.
fn shuffle(questions: &mut [ProbeQuestion], random: &mut DriveRandom) {
    for end in (1..questions.len()).rev() {
        let chosen = random.below(u32::try_from(end + 1).expect("there are few"));
        questions.swap(end, chosen as usize);
    }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (lower, upper) = (sorted.len().saturating_sub(1) / 2, sorted.len() / 2);
    match (sorted.get(lower), sorted.get(upper)) {
        (Some(lower), Some(upper)) => f64::midpoint(*lower, *upper),
        _ => f64::NAN,
    }
}

fn summary(times: &[Nanos]) -> Option<LatencySummary> {
    /// An hour; longer ones count as that.
    const LONGEST_NS: u64 = 3_600_000_000_000;
    let mut histogram = Histogram::<u64>::new_with_bounds(1, LONGEST_NS, 3).expect("in range");
    for time in times {
        histogram.saturating_record(time.0.max(1));
    }
    LatencySummary::of(&histogram)
}

#[cfg(test)]
mod tests;
