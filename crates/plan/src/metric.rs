//! The table of metrics: name, unit, which direction is better, how it adds up over phases, and
//! where it is in a phase's record.
//!
//! Code that reads, compares or shows a metric decides by its row, never by its name. Names become
//! metrics where they are read, once.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::sync::{LazyLock, Mutex, PoisonError};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use ssdlab_causes::CauserRole;
use ssdlab_filesystem::layout::BlockKind;
use ssdlab_quantity::similar;

use super::bonnie::BonnieTest;

/// A metric: its row in the table, or one made of what a program reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Metric(&'static MetricRow);

/// A metric's name and properties.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MetricRow {
    /// Its name in plans and records.
    pub name: &'static str,
    /// What it is, in words; empty of what a program reports.
    pub says: &'static str,
    pub unit: Unit,
    /// Which way it is better.
    pub better: Better,
    /// How its values in several phases are combined.
    pub together: Aggregation,
    /// Where it is in a phase's record.
    pub source: Source,
}

/// The unit of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    Ns,
    Bytes,
    /// Bytes a second.
    BytesPerS,
    /// Operations a second.
    PerS,
    Years,
    /// None: a ratio of two numbers of one unit.
    Ratio,
    /// Per cent.
    Percent,
    /// None: a count, or a number that a program reports without a unit.
    Number,
}

/// Which direction of a metric is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Better {
    Less,
    More,
    /// Neither: it describes the work, not its quality.
    Neither,
}

/// How values of one metric in several phases are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Aggregation {
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[rustfmt::skip]
pub enum Source {
    Time, Settled, Cpu, KernelThreads, Interrupts, ApplicationBytes, Commits,
    WrittenBytes, WriteRequests, WriteMerges, ReadBytes, ReadRequests, DiscardedBytes,
    DiscardRequests, Flushes,
    Written(BlockKind),
    Caused(CauserRole),
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
    pub const fn is_duration(self) -> bool {
        matches!(self, Self::Time | Self::Settled)
    }

    /// Whether it is about operations that a phase counts and times.
    pub const fn is_of_operations(self) -> bool {
        let is_latency = matches!(
            self,
            LatencyMean | LatencyP50 | LatencyP90 | LatencyP99 | LatencyP999 | LatencyMax
        );
        is_latency || matches!(self, Operations | OpsRate | ByteRate)
    }
}

/// The state after the power cuts of a treatment; `advice` reads it from all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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
        !matches!(self, Self::Unmountable | Self::Amiss | Self::Rejected | Self::Recovery)
    }
}

use AfterCuts::{
    Amiss, BrokenPromises, Damaged, LostBytes, LostTime, LostTimeP99, Recovery, Rejected,
    Unmountable,
};
use Aggregation::{Mean, Never, Pooled, Sum};
use Better::{Less, More, Neither};
use Source::{
    ApplicationBytes, ByteRate, Caused, Commits, Cpu, Cuts, DiscardRequests, DiscardedBytes,
    Erases, FlashReadBytes, FlashWrittenBytes, Flushes, HottestErases, Interrupts, KernelThreads,
    LatencyMax, LatencyMean, LatencyP50, LatencyP90, LatencyP99, LatencyP999, Operations, OpsRate,
    ReadBytes, ReadRequests, RepeatsUntilWorn, Reported, Settled, Stalled, Time,
    WriteAmplification, WriteMerges, WriteRequests, Written, WrittenBytes, YearsByBytes,
    YearsUntilWorn,
};
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

/// What was asked of a running machine in a stretch of its time, in bytes.
pub const DIRTIED_BYTES: Metric = Metric(&m(
    "dirtied_bytes",
    reported(Bytes, Neither),
    "pages that programs and filesystems changed, of the whole machine (live lab)",
));

/// The peak memory of a run of hyperfine's, in bytes.
pub const HYPERFINE_MEMORY: Metric = Metric(&m(
    "hyperfine.memory_bytes",
    reported(Bytes, Less),
    "peak memory of an imported command",
));

/// A test's result in its own unit, where higher is better (the Phoronix Test Suite's HIB).
pub const PHORONIX_HIGHER: Metric = Metric(&m(
    "phoronix.higher_is_better",
    reported(Number, More),
    "result of an imported test: higher is better",
));

/// A test's result in its own unit, where lower is better (the Phoronix Test Suite's LIB).
pub const PHORONIX_LOWER: Metric = Metric(&m(
    "phoronix.lower_is_better",
    reported(Number, Less),
    "result of an imported test: lower is better",
));

type Properties = (Unit, Better, Aggregation, Source);

const fn m(
    name: &'static str,
    (unit, better, together, source): Properties,
    says: &'static str,
) -> MetricRow {
    MetricRow { name, says, unit, better, together, source }
}

/// A cost of a phase.
const fn cost(unit: Unit, source: Source) -> Properties {
    (unit, Less, Sum, source)
}

/// Bytes written of a kind.
const fn kind(kind: BlockKind) -> Properties {
    cost(Bytes, Written(kind))
}

/// Bytes written on somebody's behalf.
const fn caused(by: CauserRole) -> Properties {
    (Bytes, Neither, Sum, Caused(by))
}

/// A metric of the state after power cuts.
const fn cuts(unit: Unit, of: AfterCuts) -> Properties {
    (unit, Less, Pooled, Cuts(of))
}

/// A metric that a workload or its program reports.
const fn reported(unit: Unit, better: Better) -> Properties {
    (unit, better, Never, Reported)
}

/// The rows of all metrics with fixed names.
#[rustfmt::skip]
static METRICS: [MetricRow; 85] = [
    // Metrics that every phase may have.
    m("time_ns", cost(Ns, Time), "time until the phase returned"),
    m("settled_ns", cost(Ns, Settled), "time until the device was quiet after it, without pauses"),
    m("cpu_ns", cost(Ns, Cpu), "processor time of the workload, user and system"),
    m("kernel_threads_ns", cost(Ns, KernelThreads),
        "processor time of kernel threads until the device was quiet (virtual lab)"),
    m("interrupts_ns", cost(Ns, Interrupts),
        "processor time of interrupts until the device was quiet (virtual lab)"),
    m("application_bytes", (Bytes, Neither, Sum, ApplicationBytes),
        "bytes the workload passed to write(2)"),
    m("written_bytes", cost(Bytes, WrittenBytes), "bytes written to the device until it was quiet"),
    m("write_requests", cost(Number, WriteRequests), "write requests the device completed"),
    m("write_merges", (Number, Neither, Sum, WriteMerges),
        "writes merged into others before the device saw them"),
    m("read_bytes", cost(Bytes, ReadBytes), "bytes read from the device"),
    m("read_requests", cost(Number, ReadRequests), "read requests the device completed"),
    m("discarded_bytes", (Bytes, Neither, Sum, DiscardedBytes), "bytes discarded (trimmed)"),
    m("discard_requests", (Number, Neither, Sum, DiscardRequests),
        "discard commands the device completed"),
    m("flushes", cost(Number, Flushes), "cache flushes the device completed"),
    m("commits", cost(Number, Commits), "transactions the journal of ext3 or ext4 committed"),
    // Bytes that a filesystem wrote, by kind: they add up to `written_bytes`.
    m("data_bytes", kind(BlockKind::Data), "of the bytes written: file contents"),
    m("journal_bytes", kind(BlockKind::Journal), "of the bytes written: the journal or log"),
    m("inode_bytes", kind(BlockKind::Inode), "of the bytes written: inodes, access times included"),
    m("directory_bytes", kind(BlockKind::Directory),
        "of the bytes written: directories and extents"),
    m("allocation_bytes", kind(BlockKind::Allocation),
        "of the bytes written: bitmaps and trees of free space"),
    m("superblock_bytes", kind(BlockKind::Superblock),
        "of the bytes written: superblocks, group descriptors, checkpoints"),
    m("cow_metadata_bytes", kind(BlockKind::CowMetadata),
        "of the bytes written: trees that are never written in place"),
    m("unattributed_bytes", kind(BlockKind::Unattributed),
        "of the bytes written: could not be attributed"),
    // The same bytes, by who caused them, whoever submitted them.
    m("workload_bytes", cost(Bytes, Caused(CauserRole::Workload)),
        "of the bytes written: caused by the workload"),
    m("reader_bytes", caused(CauserRole::Reader),
        "of the bytes written: caused by the concurrent reader, as access times"),
    m("kernel_bytes", caused(CauserRole::Kernel),
        "of the bytes written: caused by the filesystem and the kernel themselves"),
    m("before_bytes", caused(CauserRole::Before),
        "of the bytes written: dirtied before the first phase"),
    m("others_bytes", caused(CauserRole::Others),
        "of the bytes written: caused by other programs"),
    m("unseen_bytes", caused(CauserRole::Unseen),
        "of the bytes written: no event tells who caused them"),
    // A phase's effect on the flash of a simulated drive. The hottest block of one phase need not
    // be that of another.
    m("flash_written_bytes", cost(Bytes, FlashWrittenBytes),
        "bytes a simulated drive programmed into its flash"),
    m("flash_read_bytes", cost(Bytes, FlashReadBytes),
        "bytes a simulated drive read from its flash"),
    m("erases", cost(Number, Erases), "blocks a simulated drive erased"),
    m("stalled_ns", cost(Ns, Stalled),
        "time host pages waited for a simulated drive's background work, summed over pages"),
    m("hottest_erases", (Number, Less, Never, HottestErases),
        "erase count of the flash block that was erased most"),
    m("repeats_until_worn", (Number, More, Never, RepeatsUntilWorn),
        "how many times the phase can run before that flash block is worn out; a lower bound, \
         from 10 erases of it"),
    m("years_until_worn", (Years, More, Never, YearsUntilWorn),
        "years until that flash block is worn out, at `a_day` runs a day; a lower bound, from 10 \
         erases of it"),
    m("years_by_bytes", (Years, More, Never, YearsByBytes),
        "endurance times capacity, over the bytes programmed in `a_day` runs a day"),
    m("write_amplification", (Ratio, Less, Never, WriteAmplification),
        "bytes programmed into flash for each byte written to the drive"),
    // Counts of a phase's own operations.
    m("operations", (Number, More, Sum, Operations),
        "operations completed, as counted by the workload"),
    m("ops_per_second", (PerS, More, Mean, OpsRate),
        "operations a second, by the workload's clock"),
    m("bytes_per_second", (BytesPerS, More, Mean, ByteRate),
        "bytes read or written a second, by the workload's clock"),
    m("latency.mean_ns", (Ns, Less, Mean, LatencyMean), "mean latency of the operations"),
    m("latency.p50_ns", (Ns, Less, Mean, LatencyP50), "median latency of the operations"),
    m("latency.p90_ns", (Ns, Less, Mean, LatencyP90),
        "latency that 10 % of the operations exceeded"),
    m("latency.p99_ns", (Ns, Less, Mean, LatencyP99),
        "latency that 1 % of the operations exceeded"),
    m("latency.p999_ns", (Ns, Less, Mean, LatencyP999),
        "latency that 0.1 % of the operations exceeded"),
    m("latency.max_ns", (Ns, Less, Mean, LatencyMax), "the longest operation"),
    // Reports of a phase that reads, writes and syncs files; transactions report their syncs, too.
    m("read.ops_per_second", reported(PerS, More), "reads of the workload a second, by its clock"),
    m("read.p50_ns", reported(Ns, Less), "median latency of reads"),
    m("read.p99_ns", reported(Ns, Less), "latency that 1 % of reads exceeded"),
    m("read.p999_ns", reported(Ns, Less), "latency that 0.1 % of reads exceeded"),
    m("read.max_ns", reported(Ns, Less), "the longest read"),
    m("write.ops_per_second", reported(PerS, More),
        "writes of the workload a second, by its clock"),
    m("write.p50_ns", reported(Ns, Less), "median latency of writes"),
    m("write.p99_ns", reported(Ns, Less), "latency that 1 % of writes exceeded"),
    m("write.p999_ns", reported(Ns, Less), "latency that 0.1 % of writes exceeded"),
    m("write.max_ns", reported(Ns, Less), "the longest write"),
    m("sync.ops_per_second", reported(PerS, More), "syncs of the workload a second, by its clock"),
    m("sync.p50_ns", reported(Ns, Less), "median latency of syncs"),
    m("sync.p99_ns", reported(Ns, Less), "latency that 1 % of syncs exceeded"),
    m("sync.p999_ns", reported(Ns, Less), "latency that 0.1 % of syncs exceeded"),
    m("sync.max_ns", reported(Ns, Less), "the longest sync"),
    m("beside.bytes_per_second", reported(BytesPerS, More),
        "throughput of the concurrent writer during transactions"),
    // Reports of a stretch of a running machine's time.
    m("device.read_ns", reported(Ns, Less), "mean time a read took at the device (live lab)"),
    m("device.write_ns", reported(Ns, Less), "mean time a write took at the device (live lab)"),
    m("device.flush_ns", reported(Ns, Less), "mean time a flush took at the device (live lab)"),
    m("pressure.io_some", reported(Percent, Less),
        "time in which some task waited for I/O, of the whole machine (live lab)"),
    m("pressure.io_full", reported(Percent, Less),
        "time in which all tasks waited for I/O, of the whole machine (live lab)"),
    // Reports of the reader beside a phase.
    m("reader.p50_ns", reported(Ns, Less), "median latency of the concurrent reader"),
    m("reader.p99_ns", reported(Ns, Less),
        "latency that 1 % of the concurrent reader's reads exceeded"),
    m("reader.max_ns", reported(Ns, Less), "longest read of the concurrent reader"),
    m("reader.reads", reported(Number, More), "reads of the concurrent reader"),
    // The state after power cuts in a phase.
    m("broken_promises", cuts(Percent, BrokenPromises),
        "power cuts that lost something that had been synced"),
    m("damaged", cuts(Percent, Damaged),
        "power cuts that left a file in neither its old nor its new state"),
    m("unmountable", cuts(Percent, Unmountable),
        "power cuts after which the filesystem cannot be mounted"),
    m("amiss", cuts(Percent, Amiss),
        "power cuts after which the filesystem's own check reports errors"),
    m("rejected", cuts(Percent, Rejected),
        "power cuts after which the plan's own check rejects the data"),
    m("lost_ns", cuts(Ns, LostTime),
        "median over power cuts at random moments: age of the oldest lost operation"),
    m("lost.p99_ns", cuts(Ns, LostTimeP99), "99th percentile of that age"),
    m("lost_bytes", cuts(Bytes, LostBytes),
        "median over power cuts at random moments: bytes that the lost operations wrote"),
    m("recovery_ns", cuts(Ns, Recovery), "median over power cuts: time to mount the filesystem"),
    *DIRTIED_BYTES.0, *HYPERFINE_MEMORY.0, *PHORONIX_HIGHER.0, *PHORONIX_LOWER.0,
];

/// Every metric with a fixed name.
pub fn all() -> impl ExactSizeIterator<Item = Metric> {
    METRICS.iter().map(Metric)
}

pub fn find(name: &str) -> Option<Metric> {
    // Reports look metrics up for each record. Most names differ in length, so that is compared
    // first.
    static FIXED: LazyLock<BTreeMap<(usize, &str), Metric>> =
        LazyLock::new(|| all().map(|metric| ((metric.name.len(), metric.name), metric)).collect());
    let fixed = |name: &str| FIXED.get(&(name.len(), name)).copied();
    fixed(name).or_else(|| {
        let (unit, better) = if let Some(of_fio) = name.strip_prefix(FIO_PREFIX) {
            let of_job = of_fio.rsplit_once('.').map_or(of_fio, |(_, of_job)| of_job);
            fio(of_job)?
        } else {
            let (test, measured) = name.strip_prefix(BONNIE_PREFIX)?.split_once('.')?;
            let is_of_a_test = BonnieTest::ALL.iter().any(|known| known.name() == test)
                && ["bytes_per_second", "ops_per_second", "latency.max_ns"].contains(&measured);
            let alike = fixed(measured).filter(|_| is_of_a_test)?;
            (alike.unit, alike.better)
        };
        Some(named(name, reported(unit, better)))
    })
}

/// The metric of a name that is not in the table: the same for equal names, and never dropped, as
/// those of plans and records are few.
fn named(name: &str, properties: Properties) -> Metric {
    static KNOWN: Mutex<BTreeMap<&'static str, Metric>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(metric) = known.get(name) {
        return *metric;
    }
    let name: &'static str = name.to_owned().leak();
    let metric = Metric(Box::leak(Box::new(m(name, properties, ""))));
    known.insert(name, metric);
    metric
}

/// A metric that fio reports for a job.
fn fio(name: &str) -> Option<(Unit, Better)> {
    Some(match name.split_once('_')? {
        ("read" | "write" | "trim" | "mixed", "iops") => (PerS, More),
        ("read" | "write" | "trim" | "mixed", "bytes_per_s") => (BytesPerS, More),
        (
            "read" | "write" | "trim" | "mixed",
            "clat_mean_ns" | "clat_p50_ns" | "clat_p99_ns" | "clat_p999_ns",
        )
        | ("sync", "p99_ns") => (Ns, Less),
        _ => return None,
    })
}

/// The metric of this name. Nothing is assumed about an unknown one: a record may have metrics of a
/// later version.
pub fn of(name: &str) -> Metric {
    find(name).unwrap_or_else(|| named(name, reported(Number, Neither)))
}

/// Values that a program reported, by their metrics.
pub fn parsed(reported: impl IntoIterator<Item = (String, f64)>) -> BTreeMap<Metric, f64> {
    reported.into_iter().map(|(name, value)| (of(&name), value)).collect()
}

impl From<Source> for Metric {
    /// The metric of a source that only one has.
    fn from(source: Source) -> Self {
        all().find(|metric| metric.source == source).expect("the table has every source")
    }
}

impl Deref for Metric {
    type Target = MetricRow;

    fn deref(&self) -> &MetricRow {
        self.0
    }
}

impl Default for Metric {
    fn default() -> Self {
        Self(&METRICS[0])
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Serialize for Metric {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name)
    }
}

impl<'de> Deserialize<'de> for Metric {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Cow::<str>::deserialize(deserializer).map(|name| of(&name))
    }
}

impl JsonSchema for Metric {
    fn schema_name() -> Cow<'static, str> {
        String::schema_name()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

impl MetricRow {
    /// The metric that tells how many operations a latency is over: their number, or their rate.
    pub fn operations(&self) -> Option<Metric> {
        match self.name.rsplit_once('.')? {
            ("latency", _) => Some(Metric::from(Operations)),
            ("reader", _) => find("reader.reads"),
            (of, _) => find(&format!("{of}.ops_per_second")),
        }
    }

    /// Whether it shows what discards cost: their number, the time until the device is idle, and
    /// the latency of a concurrent reader.
    pub fn shows_discards(&self) -> bool {
        matches!(self.source, Settled | DiscardedBytes | DiscardRequests) || self.is_of_reader()
    }

    /// Whether a concurrent reader gives it.
    pub fn is_of_reader(&self) -> bool {
        self.name.starts_with(READER_PREFIX)
    }

    /// Whether it depends on the layers below the block layer: times, measured here or by programs,
    /// and a simulated drive's activity. The others are counted above it.
    pub fn is_of_the_drive(&self) -> bool {
        let is_of_commands = matches!(
            self.source,
            WriteRequests | WriteMerges | ReadRequests | DiscardRequests | Flushes | Commits
        );
        let is_of_bytes = matches!(
            self.source,
            ApplicationBytes | WrittenBytes | ReadBytes | DiscardedBytes | Written(_) | Caused(_)
        );
        !is_of_commands && !is_of_bytes
    }

    /// Whether it needs to know how often a day a phase runs.
    pub fn is_of_days(&self) -> bool {
        matches!(self.source, YearsUntilWorn | YearsByBytes)
    }

    /// Whether it is extrapolated from the erases of one block ([`FEWEST_ERASES`]).
    pub fn is_of_a_block(&self) -> bool {
        matches!(self.source, RepeatsUntilWorn | YearsUntilWorn)
    }

    /// Whether it is about the state after power cuts, which only claims use.
    pub fn is_of_cuts(&self) -> bool {
        matches!(self.source, Cuts(_))
    }

    /// Its values in several phases, combined; `None` if there are none or they cannot be combined.
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
pub fn instead_of(name: &str) -> String {
    let known: Vec<_> = all().map(|metric| metric.name).collect();
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
