//! What a probe has found: the output for programs, from which the text for people is made.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_doctor::{DemandVerdict, SyncedSpeed};
use ssdlab_flash::presets::DriveClass;
use ssdlab_flash::probe::{FITS_WITHIN, NearestDrive, ProbeAnswer, ProbeAnswers, ProbeQuestion};
use ssdlab_stats::latency::LatencySummary;

use super::cautions::{ProbeCaution, cautions};
use super::place::ProbedPlace;

/// The version of the `--json` output.
const SCHEMA: u32 = 1;

/// What `ssdlab probe --json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ProbeOutput {
    /// The version of this format.
    schema: u32,
    /// Where it was probed.
    pub(super) place: ProbedPlace,
    /// How it was probed.
    pub(super) method: ProbeMethod,
    /// Requests of 4 KiB one at a time, by what they do: `synced_write` (a write and a flush),
    /// `flush` (that flush alone), `dsync_write`, `write`, `near_read`, `read`.
    pub(super) latencies: BTreeMap<&'static str, ProbeLatency>,
    /// Requests of 4 KiB a second (`synced_writes`, `near_reads_32`, `reads_32`, `writes_32`), and
    /// bytes a second (`burst_1_mib` to `sequential_write`, `sequential_read`).
    pub(super) rates: BTreeMap<&'static str, ProbeRate>,
    /// Whether it is fast enough for programs.
    pub(super) verdicts: Vec<DemandVerdict>,
    /// The shipped drive that it is like; null if none fits.
    pub(super) nearest: Option<ShippedDrive>,
    /// The shipped drive that it is least unlike.
    pub(super) closest: ShippedDrive,
    /// What makes the numbers worth less.
    pub(super) cautions: Vec<ProbeCaution>,
}

/// How a drive was probed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ProbeMethod {
    /// The seed.
    pub(super) seed: u64,
    /// The rounds that the answer with the fewest is from.
    pub(super) rounds: usize,
    /// The size of the file, in bytes.
    file_bytes: u64,
    /// What was written, in bytes.
    pub(super) written_bytes: u64,
    /// The time it took, in ns.
    pub(super) took_ns: u64,
}

/// The latency of requests.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct ProbeLatency {
    /// Over all requests.
    #[serde(flatten)]
    pub(super) summary: LatencySummary,
    /// The least and the greatest median of a round, in ns: with five rounds a 94 % interval of the
    /// median. Null with fewer rounds, and for flushes, which are measured with their writes.
    pub(super) median_interval_ns: Option<[f64; 2]>,
    /// How many requests.
    pub(super) requests: u64,
}

/// A rate.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct ProbeRate {
    /// Requests, or bytes, a second: the median of the rounds.
    pub(super) per_s: f64,
    /// The least and the greatest of the rounds, as of latencies.
    interval_per_s: Option<[f64; 2]>,
}

/// A shipped drive.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct ShippedDrive {
    /// Its name.
    pub(super) drive: &'static str,
    /// Its class.
    pub(super) class: DriveClass,
    /// How far its answers are from those measured: the root mean square of the logarithms of their
    /// ratios, under the host's own time that fits best.
    pub(super) distance: f64,
}

/// Latencies: their names, what people read, and the questions.
pub(super) const LATENCIES: [(&str, &str, ProbeQuestion); 6] = [
    ("synced_write", "write, then fdatasync", ProbeQuestion::SyncedWrite),
    (FLUSH, "  the fdatasync alone", ProbeQuestion::SyncedWrite),
    ("dsync_write", "write with O_DSYNC", ProbeQuestion::FuaWrite),
    ("write", "write, not synced", ProbeQuestion::Write),
    ("near_read", "read, within 16 MiB", ProbeQuestion::NearRead),
    ("read", "read, anywhere", ProbeQuestion::Read),
];

const FLUSH: &str = "flush";

/// Rates: the same, and the bytes that one of them counts, or 1 where it counts requests.
pub(super) const RATES: [(&str, &str, ProbeQuestion, f64); 9] = [
    (SYNCED, "synced writes", ProbeQuestion::SyncedWrite, 1.0),
    ("reads_32", "reads, 32 at a time", ProbeQuestion::DeepRead, 1.0),
    ("near_reads_32", "  within 16 MiB", ProbeQuestion::DeepNearRead, 1.0),
    (DEEP, "writes, 32 at a time", ProbeQuestion::DeepWrite, 1.0),
    ("burst_1_mib", "a burst of 1 MiB", ProbeQuestion::Burst1, MIB),
    ("burst_4_mib", "a burst of 4 MiB", ProbeQuestion::Burst4, MIB),
    ("burst_16_mib", "a burst of 16 MiB", ProbeQuestion::Burst16, MIB),
    ("sequential_write", "written in order", ProbeQuestion::SequentialWrite, MIB),
    ("sequential_read", "read in order", ProbeQuestion::SequentialRead, MIB),
];

const SYNCED: &str = "synced_writes";
const DEEP: &str = "writes_32";
const MIB: f64 = 1_048_576.0;

impl ProbeOutput {
    pub(super) fn new(
        answers: &ProbeAnswers,
        closest: NearestDrive,
        place: ProbedPlace,
        seed: u64,
    ) -> Self {
        let closest = ShippedDrive::from(closest);
        let rounds = answers.answers.values().map(|answer| answer.rounds.len()).min();
        let latencies = latencies(answers);
        let rates = rates(answers);
        let per_s = |name: &str| rates.get(name).map_or(0.0, |rate| rate.per_s);
        let flush = latencies.get(FLUSH);
        let synced = SyncedSpeed {
            flush_p99_ns: flush.map_or(f64::INFINITY, |flush| flush.summary.p99_ns as f64),
            flushes: flush.map_or(0, |flush| flush.requests),
            synced_per_s: per_s(SYNCED),
            deep_per_s: per_s(DEEP),
        };
        Self {
            schema: SCHEMA,
            method: ProbeMethod {
                seed,
                rounds: rounds.unwrap_or(0),
                file_bytes: answers.file_bytes,
                written_bytes: answers.written_bytes,
                took_ns: answers.took.0,
            },
            verdicts: synced.verdicts(),
            nearest: Some(closest).filter(|drive| drive.distance <= FITS_WITHIN),
            closest,
            cautions: cautions(answers, &place),
            latencies,
            rates,
            place,
        }
    }
}

fn latencies(answers: &ProbeAnswers) -> BTreeMap<&'static str, ProbeLatency> {
    let of = |(name, _, question): (&'static str, &str, ProbeQuestion)| {
        let answer = answers.answers.get(&question)?;
        let (summary, median_interval_ns) = match name {
            FLUSH => (answer.flushes?, None),
            _ => (answer.latencies?, interval(answer)),
        };
        Some((name, ProbeLatency { summary, median_interval_ns, requests: answer.requests }))
    };
    LATENCIES.into_iter().filter_map(of).collect()
}

fn rates(answers: &ProbeAnswers) -> BTreeMap<&'static str, ProbeRate> {
    let of = |(name, _, question, bytes): (&'static str, &str, ProbeQuestion, f64)| {
        let answer = answers.answers.get(&question)?;
        let per_s = |ns: f64| bytes * 1e9 / ns.max(1.0);
        let interval_per_s = interval(answer).map(|[lo, hi]| [per_s(hi), per_s(lo)]);
        Some((name, ProbeRate { per_s: per_s(answer.median_ns()), interval_per_s }))
    };
    RATES.into_iter().filter_map(of).collect()
}

/// The interval of an answer, if its rounds bound it.
fn interval(answer: &ProbeAnswer) -> Option<[f64; 2]> {
    let found = answer.interval_ns();
    (found.lo.is_finite() && found.hi.is_finite()).then_some([found.lo, found.hi])
}

impl From<NearestDrive> for ShippedDrive {
    fn from(NearestDrive { name, class, distance, .. }: NearestDrive) -> Self {
        Self { drive: name, class, distance }
    }
}
