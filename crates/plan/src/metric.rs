//! The table of metrics: name, unit, which direction is better, how it adds up over phases, and
//! where it is in a phase's record.
//!
//! Code that reads, compares or shows a metric decides by this table, never by its name.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use ssdlab_filesystem::layout::BlockKind;
use ssdlab_quantity::similar;

use super::bonnie::BonnieTest;

/// The properties of a metric besides its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metric {
    /// Its unit.
    pub unit: Unit,
    /// Which way it is better.
    pub better: Better,
    /// How its values in several phases are combined.
    pub together: Together,
    /// Where it is in a phase's record.
    pub source: Source,
}

/// The unit of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Nanoseconds.
    Ns,
    /// Bytes.
    Bytes,
    /// Bytes a second.
    BytesPerS,
    /// Operations a second.
    PerS,
    /// Years.
    Years,
    /// None: a ratio of two numbers of one unit.
    Ratio,
    /// Per cent.
    Percent,
    /// None: a count, or a number that a program reports without a unit.
    Number,
}

/// Which direction of a metric is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Less of it is better.
    Less,
    /// More of it is better.
    More,
    /// Neither: it describes the work, not its quality.
    Neither,
}

/// How values of one metric in several phases are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Together {
    /// They add up.
    Sum,
    /// Rates and latencies of unlike work: by their geometric mean, in which a tenth more counts
    /// the same in every phase (P. J. Fleming and J. J. Wallace, "How not to lie with statistics:
    /// the correct way to summarize benchmark results", Communications of the ACM 29, 1986).
    Mean,
    /// Counted over all of them at once.
    Pooled,
    /// They cannot be combined.
    Never,
}

/// Where a metric is in a phase's record; `results` reads it there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the table says what each is")]
#[rustfmt::skip]
pub enum Source {
    Time, Settled, Cpu, KernelThreads, Interrupts, ApplicationBytes, Commits,
    WrittenBytes, WriteRequests, WriteMerges, ReadBytes, ReadRequests, DiscardedBytes,
    DiscardRequests, Flushes,
    Written(BlockKind),
    FlashWrittenBytes, FlashReadBytes, Erases, Stalled, HottestErases, RepeatsUntilWorn,
    YearsUntilWorn, YearsByBytes, WriteAmplification,
    Operations, OpsRate, ByteRate,
    LatencyMean, LatencyP50, LatencyP90, LatencyP99, LatencyP999, LatencyMax,
    /// The state after power cuts, which no phase has.
    Cuts(AfterCuts),
    /// Reported under the metric's name by the workload, or by a program that it ran.
    Reported,
}

impl Source {
    /// Whether it is the time that a phase takes.
    #[must_use]
    pub const fn is_duration(self) -> bool {
        matches!(self, Self::Time | Self::Settled)
    }

    /// Whether it is about operations that a phase counts and times.
    #[must_use]
    pub const fn is_of_operations(self) -> bool {
        matches!(
            self,
            Self::Operations
                | Self::OpsRate
                | Self::ByteRate
                | Self::LatencyMean
                | Self::LatencyP50
                | Self::LatencyP90
                | Self::LatencyP99
                | Self::LatencyP999
                | Self::LatencyMax
        )
    }
}

/// The state after the power cuts of a treatment; `advice` reads it from all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the table says what each is")]
#[rustfmt::skip]
pub enum AfterCuts {
    BrokenPromises, Damaged, Unmountable, Amiss, Rejected,
    LostTime, LostTimeP99, LostBytes, Recovery,
}

impl AfterCuts {
    /// Whether it is over cuts at random moments only.
    pub(super) const fn is_at_random(self) -> bool {
        matches!(self, Self::LostTime | Self::LostTimeP99 | Self::LostBytes)
    }

    /// Whether it is about files that record their history.
    pub(super) const fn is_of_files(self) -> bool {
        match self {
            Self::BrokenPromises
            | Self::Damaged
            | Self::LostTime
            | Self::LostTimeP99
            | Self::LostBytes => true,
            Self::Unmountable | Self::Amiss | Self::Rejected | Self::Recovery => false,
        }
    }
}

use AfterCuts::{
    Amiss, BrokenPromises, Damaged, LostBytes, LostTime, LostTimeP99, Recovery, Rejected,
    Unmountable,
};
use Better::{Less, More, Neither};
use Source::{
    ApplicationBytes, ByteRate, Commits, Cpu, Cuts, DiscardRequests, DiscardedBytes, Erases,
    FlashReadBytes, FlashWrittenBytes, Flushes, HottestErases, Interrupts, KernelThreads,
    LatencyMax, LatencyMean, LatencyP50, LatencyP90, LatencyP99, LatencyP999, Operations, OpsRate,
    ReadBytes, ReadRequests, RepeatsUntilWorn, Reported, Settled, Stalled, Time,
    WriteAmplification, WriteMerges, WriteRequests, Written, WrittenBytes, YearsByBytes,
    YearsUntilWorn,
};
use Together::{Mean, Never, Pooled, Sum};
use Unit::{Bytes, BytesPerS, Ns, Number, PerS, Percent, Ratio, Years};

/// The fewest erases of a block from which its wear is extrapolated: the first erases after a
/// drive was filled come at a rate that says nothing about those that follow.
pub const FEWEST_ERASES: u64 = 10;

/// The prefix of metrics that fio reports: `fio.JOB.read_iops`, and `fio.read_iops` if there is
/// only one job; `mixed_iops` with `unified_rw_reporting`.
pub const FIO_PREFIX: &str = "fio.";

/// The prefix of metrics that bonnie++ reports: `bonnie++.TEST.bytes_per_second`.
pub const BONNIE_PREFIX: &str = "bonnie++.";

/// The prefix of metrics of a phase's concurrent reader.
pub const READER_PREFIX: &str = "reader.";

/// A test's result in its own unit, where higher is better (the Phoronix Test Suite's HIB).
pub const PHORONIX_HIGHER: &str = "phoronix.higher_is_better";

/// A test's result in its own unit, where lower is better (the Phoronix Test Suite's LIB).
pub const PHORONIX_LOWER: &str = "phoronix.lower_is_better";

/// The peak memory of a run of hyperfine's, in bytes.
pub const HYPERFINE_MEMORY: &str = "hyperfine.memory_bytes";

const fn m(unit: Unit, better: Better, together: Together, source: Source) -> Metric {
    Metric { unit, better, together, source }
}

/// A cost of a phase.
const fn cost(unit: Unit, source: Source) -> Metric {
    m(unit, Less, Sum, source)
}

/// Bytes written of a kind.
const fn kind(kind: BlockKind) -> Metric {
    cost(Bytes, Written(kind))
}

/// A metric of the state after power cuts.
const fn cuts(unit: Unit, of: AfterCuts) -> Metric {
    m(unit, Less, Pooled, Cuts(of))
}

/// A metric that a workload or its program reports.
const fn reported(unit: Unit, better: Better) -> Metric {
    m(unit, better, Never, Reported)
}

/// Every metric with a fixed name: its name, properties and description.
#[rustfmt::skip]
pub const METRICS: [(&str, Metric, &str); 73] = [
    // Metrics that every phase may have.
    ("time_ns", cost(Ns, Time), "time until the phase returned"),
    ("settled_ns", cost(Ns, Settled), "time until the device was quiet after it, without pauses"),
    ("cpu_ns", cost(Ns, Cpu), "processor time of the workload, user and system"),
    ("kernel_threads_ns", cost(Ns, KernelThreads),
        "processor time of kernel threads until the device was quiet (virtual lab)"),
    ("interrupts_ns", cost(Ns, Interrupts),
        "processor time of interrupts until the device was quiet (virtual lab)"),
    ("application_bytes", m(Bytes, Neither, Sum, ApplicationBytes),
        "bytes the workload passed to write(2)"),
    ("written_bytes", cost(Bytes, WrittenBytes), "bytes written to the device until it was quiet"),
    ("write_requests", cost(Number, WriteRequests), "write requests the device completed"),
    ("write_merges", m(Number, Neither, Sum, WriteMerges),
        "writes merged into others before the device saw them"),
    ("read_bytes", cost(Bytes, ReadBytes), "bytes read from the device"),
    ("read_requests", cost(Number, ReadRequests), "read requests the device completed"),
    ("discarded_bytes", m(Bytes, Neither, Sum, DiscardedBytes), "bytes discarded (trimmed)"),
    ("discard_requests", m(Number, Neither, Sum, DiscardRequests),
        "discard commands the device completed"),
    ("flushes", cost(Number, Flushes), "cache flushes the device completed"),
    ("commits", cost(Number, Commits), "transactions the journal of ext3 or ext4 committed"),
    // Bytes that a filesystem wrote, by kind: they add up to `written_bytes`.
    ("data_bytes", kind(BlockKind::Data), "of the bytes written: file contents"),
    ("journal_bytes", kind(BlockKind::Journal), "of the bytes written: the journal or log"),
    ("inode_bytes", kind(BlockKind::Inode), "of the bytes written: inodes, access times included"),
    ("directory_bytes", kind(BlockKind::Directory),
        "of the bytes written: directories and extents"),
    ("allocation_bytes", kind(BlockKind::Allocation),
        "of the bytes written: bitmaps and trees of free space"),
    ("superblock_bytes", kind(BlockKind::Superblock),
        "of the bytes written: superblocks, group descriptors, checkpoints"),
    ("cow_metadata_bytes", kind(BlockKind::CowMetadata),
        "of the bytes written: trees that are never written in place"),
    ("unattributed_bytes", kind(BlockKind::Unattributed),
        "of the bytes written: could not be attributed"),
    // A phase's effect on the flash of a simulated drive. The hottest block of one phase need not
    // be that of another.
    ("flash_written_bytes", cost(Bytes, FlashWrittenBytes),
        "bytes a simulated drive programmed into its flash"),
    ("flash_read_bytes", cost(Bytes, FlashReadBytes),
        "bytes a simulated drive read from its flash"),
    ("erases", cost(Number, Erases), "blocks a simulated drive erased"),
    ("stalled_ns", cost(Ns, Stalled),
        "time host pages waited for a simulated drive's background work, summed over pages"),
    ("hottest_erases", m(Number, Less, Never, HottestErases),
        "erase count of the flash block that was erased most"),
    ("repeats_until_worn", m(Number, More, Never, RepeatsUntilWorn),
        "how many times the phase can run before that flash block is worn out; a lower bound, \
         from 10 erases of it"),
    ("years_until_worn", m(Years, More, Never, YearsUntilWorn),
        "years until that flash block is worn out, at `a_day` runs a day; a lower bound, from 10 \
         erases of it"),
    ("years_by_bytes", m(Years, More, Never, YearsByBytes),
        "endurance times capacity, over the bytes programmed in `a_day` runs a day"),
    ("write_amplification", m(Ratio, Less, Never, WriteAmplification),
        "bytes programmed into flash for each byte written to the drive"),
    // Counts of a phase's own operations.
    ("operations", m(Number, More, Sum, Operations),
        "operations completed, as counted by the workload"),
    ("ops_per_second", m(PerS, More, Mean, OpsRate),
        "operations a second, by the workload's clock"),
    ("bytes_per_second", m(BytesPerS, More, Mean, ByteRate),
        "bytes read or written a second, by the workload's clock"),
    ("latency.mean_ns", m(Ns, Less, Mean, LatencyMean), "mean latency of the operations"),
    ("latency.p50_ns", m(Ns, Less, Mean, LatencyP50), "median latency of the operations"),
    ("latency.p90_ns", m(Ns, Less, Mean, LatencyP90),
        "latency that 10 % of the operations exceeded"),
    ("latency.p99_ns", m(Ns, Less, Mean, LatencyP99),
        "latency that 1 % of the operations exceeded"),
    ("latency.p999_ns", m(Ns, Less, Mean, LatencyP999),
        "latency that 0.1 % of the operations exceeded"),
    ("latency.max_ns", m(Ns, Less, Mean, LatencyMax), "the longest operation"),
    // Reports of a phase that reads, writes and syncs files; transactions report their syncs, too.
    ("read.ops_per_second", reported(PerS, More), "reads of the workload a second, by its clock"),
    ("read.p50_ns", reported(Ns, Less), "median latency of reads"),
    ("read.p99_ns", reported(Ns, Less), "latency that 1 % of reads exceeded"),
    ("read.p999_ns", reported(Ns, Less), "latency that 0.1 % of reads exceeded"),
    ("read.max_ns", reported(Ns, Less), "the longest read"),
    ("write.ops_per_second", reported(PerS, More), "writes of the workload a second, by its clock"),
    ("write.p50_ns", reported(Ns, Less), "median latency of writes"),
    ("write.p99_ns", reported(Ns, Less), "latency that 1 % of writes exceeded"),
    ("write.p999_ns", reported(Ns, Less), "latency that 0.1 % of writes exceeded"),
    ("write.max_ns", reported(Ns, Less), "the longest write"),
    ("sync.ops_per_second", reported(PerS, More), "syncs of the workload a second, by its clock"),
    ("sync.p50_ns", reported(Ns, Less), "median latency of syncs"),
    ("sync.p99_ns", reported(Ns, Less), "latency that 1 % of syncs exceeded"),
    ("sync.p999_ns", reported(Ns, Less), "latency that 0.1 % of syncs exceeded"),
    ("sync.max_ns", reported(Ns, Less), "the longest sync"),
    ("beside.bytes_per_second", reported(BytesPerS, More),
        "throughput of the concurrent writer during transactions"),
    // Reports of the reader beside a phase.
    ("reader.p50_ns", reported(Ns, Less), "median latency of the concurrent reader"),
    ("reader.p99_ns", reported(Ns, Less),
        "latency that 1 % of the concurrent reader's reads exceeded"),
    ("reader.max_ns", reported(Ns, Less), "longest read of the concurrent reader"),
    ("reader.reads", reported(Number, More), "reads of the concurrent reader"),
    // The state after power cuts in a phase.
    ("broken_promises", cuts(Percent, BrokenPromises),
        "power cuts that lost something that had been synced"),
    ("damaged", cuts(Percent, Damaged),
        "power cuts that left a file in neither its old nor its new state"),
    ("unmountable", cuts(Percent, Unmountable),
        "power cuts after which the filesystem cannot be mounted"),
    ("amiss", cuts(Percent, Amiss),
        "power cuts after which the filesystem's own check reports errors"),
    ("rejected", cuts(Percent, Rejected),
        "power cuts after which the plan's own check rejects the data"),
    ("lost_ns", cuts(Ns, LostTime),
        "median over power cuts at random moments: age of the oldest lost operation"),
    ("lost.p99_ns", cuts(Ns, LostTimeP99), "99th percentile of that age"),
    ("lost_bytes", cuts(Bytes, LostBytes),
        "median over power cuts at random moments: bytes that the lost operations wrote"),
    ("recovery_ns", cuts(Ns, Recovery), "median over power cuts: time to mount the filesystem"),
    (HYPERFINE_MEMORY, reported(Bytes, Less), "peak memory of an imported command"),
    // Results of the Phoronix Test Suite, in each test's own unit.
    (PHORONIX_HIGHER, reported(Number, More), "result of an imported test: higher is better"),
    (PHORONIX_LOWER, reported(Number, Less), "result of an imported test: lower is better"),
];

/// The metric of this name, if there is one.
#[must_use]
pub fn find(name: &str) -> Option<Metric> {
    // Reports look metrics up for each record. Most names differ in length, so that is compared
    // first.
    static FIXED: LazyLock<BTreeMap<(usize, &str), Metric>> = LazyLock::new(|| {
        METRICS.iter().map(|(name, metric, _)| ((name.len(), *name), *metric)).collect()
    });
    let fixed = |name: &str| FIXED.get(&(name.len(), name)).copied();
    fixed(name).or_else(|| {
        let alike = if let Some(of_fio) = name.strip_prefix(FIO_PREFIX) {
            let of_job = of_fio.rsplit_once('.').map_or(of_fio, |(_, of_job)| of_job);
            fio(of_job)?
        } else {
            let (test, measured) = name.strip_prefix(BONNIE_PREFIX)?.split_once('.')?;
            let is_of_a_test = BonnieTest::ALL.iter().any(|known| known.name() == test)
                && ["bytes_per_second", "ops_per_second", "latency.max_ns"].contains(&measured);
            fixed(measured).filter(|_| is_of_a_test)?
        };
        Some(Metric { together: Never, source: Reported, ..alike })
    })
}

/// A metric that fio reports for a job.
fn fio(name: &str) -> Option<Metric> {
    let (unit, better) = match name.split_once('_')? {
        ("read" | "write" | "trim" | "mixed", "iops") => (PerS, More),
        ("read" | "write" | "trim" | "mixed", "bytes_per_s") => (BytesPerS, More),
        (
            "read" | "write" | "trim" | "mixed",
            "clat_mean_ns" | "clat_p50_ns" | "clat_p99_ns" | "clat_p999_ns",
        )
        | ("sync", "p99_ns") => (Ns, Less),
        _ => return None,
    };
    Some(reported(unit, better))
}

/// The metric of this name. Nothing is assumed about an unknown one: a record may have metrics of a
/// later version.
#[must_use]
pub fn of(name: &str) -> Metric {
    find(name).unwrap_or(reported(Number, Neither))
}

/// Whether a metric shows what discards cost: their number, the time until the device is idle, and
/// the latency of a concurrent reader.
#[must_use]
pub fn shows_discards(name: &str) -> bool {
    matches!(of(name).source, Settled | DiscardedBytes | DiscardRequests)
        || name.starts_with(READER_PREFIX)
}

/// The metric of a kind of written bytes.
#[must_use]
pub fn written(kind: BlockKind) -> &'static str {
    let row = METRICS.iter().find(|row| row.1.source == Written(kind));
    row.map_or("", |row| row.0)
}

impl Metric {
    /// Whether it depends on the layers below the block layer: times, measured here or by programs,
    /// and a simulated drive's activity. The others are counted above it.
    #[must_use]
    pub fn is_of_the_drive(&self) -> bool {
        let is_counted_above = matches!(
            self.source,
            ApplicationBytes
                | WrittenBytes
                | WriteRequests
                | WriteMerges
                | ReadBytes
                | ReadRequests
                | DiscardedBytes
                | DiscardRequests
                | Flushes
                | Commits
                | Written(_)
        );
        !is_counted_above
    }

    /// Whether it needs to know how often a day a phase runs.
    #[must_use]
    pub fn is_of_days(&self) -> bool {
        matches!(self.source, YearsUntilWorn | YearsByBytes)
    }

    /// Whether it is extrapolated from the erases of one block ([`FEWEST_ERASES`]).
    #[must_use]
    pub fn is_of_a_block(&self) -> bool {
        matches!(self.source, RepeatsUntilWorn | YearsUntilWorn)
    }

    /// Whether it is about the state after power cuts, which only claims use.
    #[must_use]
    pub fn is_of_cuts(&self) -> bool {
        matches!(self.source, Cuts(_))
    }

    /// Its values in several phases, combined; `None` if there are none or they cannot be combined.
    #[must_use]
    pub fn taken_together(&self, values: &[f64]) -> Option<f64> {
        match (self.together, values) {
            (_, []) => None,
            (_, [value]) => Some(*value),
            (Sum, _) => Some(values.iter().sum()),
            (Mean, _) => {
                let logs: f64 = values.iter().map(|value| value.ln()).sum();
                Some((logs / values.len() as f64).exp())
            }
            (Pooled | Never, _) => None,
        }
    }
}

impl Unit {
    /// Its symbol; empty if there is none.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            Ns => "ns",
            Bytes => "B",
            BytesPerS => "B/s",
            PerS => "1/s",
            Years => "years",
            Percent => "%",
            Ratio | Number => "",
        }
    }
}

/// The metric of this name, if phases can have it; or what is wrong, and what to write instead.
pub(super) fn of_phases(name: &str) -> Result<Metric, (String, String)> {
    match find(name) {
        None => Err((format!("there is no metric `{name}`"), instead_of(name))),
        Some(metric) if metric.is_of_cuts() => Err((
            format!("no phase has `{name}`: it is a metric of power cuts"),
            "use it in a claim; name a metric of phases here".to_owned(),
        )),
        Some(metric) => Ok(metric),
    }
}

/// What to write instead of an unknown metric.
#[must_use]
pub fn instead_of(name: &str) -> String {
    let known: Vec<_> = METRICS.iter().map(|(name, ..)| *name).collect();
    match similar(name, known.iter().copied()) {
        Some(similar) => format!("did you mean `{similar}`? `ssdlab list metrics` lists them"),
        None => format!(
            "metrics: {}, or {FIO_PREFIX}NAME and {BONNIE_PREFIX}NAME for what fio and bonnie++ \
             report",
            known.join(", ")
        ),
    }
}

#[cfg(test)]
mod tests;
