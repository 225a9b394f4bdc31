//! The metrics a phase yields, by the names they have in plans and results.

/// Metrics a phase may have, whatever it does. All add up over phases.
pub const METRICS: [(&str, &str); 15] = [
    ("time_ns", "time until the phase returned"),
    ("settled_ns", "time until the device was quiet after it"),
    ("cpu_ns", "processor time, user and system"),
    ("application_bytes", "bytes the workload handed to write(2)"),
    ("written_bytes", "bytes written to the device until it was quiet"),
    ("write_requests", "write requests the device completed"),
    ("write_merges", "writes merged into others before they reached the device"),
    ("read_bytes", "bytes read from the device"),
    ("read_requests", "read requests the device completed"),
    ("discarded_bytes", "bytes discarded (trimmed)"),
    ("discard_requests", "discard commands the device completed"),
    ("flushes", "cache flushes the device completed"),
    ("commits", "transactions that the journal of ext3 or ext4 committed"),
    ("flash_written_bytes", "bytes a simulated drive programmed into its flash"),
    ("erases", "blocks a simulated drive erased"),
];

/// What a filesystem wrote, by what it is. All add up over phases, and together they are
/// `written_bytes`.
pub const LEDGER_METRICS: [(&str, &str); 8] = [
    ("data_bytes", "of the bytes written: what files hold"),
    ("journal_bytes", "of the bytes written: the journal or log"),
    ("inode_bytes", "of the bytes written: inodes, where access times are"),
    ("directory_bytes", "of the bytes written: directories and extents"),
    ("allocation_bytes", "of the bytes written: bitmaps and trees of free space"),
    ("superblock_bytes", "of the bytes written: superblocks, group descriptors, checkpoints"),
    ("cow_metadata_bytes", "of the bytes written: trees that are never written in place"),
    ("unattributed_bytes", "of the bytes written: what cannot be told"),
];

/// What needs a phase that says how often a day it is done.
pub const YEARS_UNTIL_WORN: &str = "years_until_worn";

/// What a phase does to the flash of a simulated drive. They do not add up: the hottest block of
/// one phase need not be that of another.
pub const FLASH_METRICS: [(&str, &str); 4] = [
    ("hottest_erases", "erases of the flash block that was erased most"),
    ("repeats_until_worn", "how often the phase can be done until that block is worn out"),
    (YEARS_UNTIL_WORN, "for how many years, if it is done `a_day` times a day"),
    ("write_amplification", "bytes programmed into flash for each written to the drive"),
];

/// The prefix of metrics a phase's own program reports (fio's, say).
pub const FIO_PREFIX: &str = "fio.";

/// The prefix of metrics that bonnie++ reports.
pub const BONNIE_PREFIX: &str = "bonnie++.";

/// The prefix of metrics that the Phoronix Test Suite reports.
pub const PHORONIX_PREFIX: &str = "phoronix.";

/// A test's result in its own unit, which the Phoronix Test Suite calls HIB.
pub const PHORONIX_HIGHER: &str = "phoronix.higher_is_better";

/// A test's result in its own unit, which the Phoronix Test Suite calls LIB.
pub const PHORONIX_LOWER: &str = "phoronix.lower_is_better";

/// Metrics of the reader beside a phase, which only phases with a reader have. They do not add up.
pub const READER_METRICS: [(&str, &str); 4] = [
    ("reader.p50_ns", "median latency of the reader beside the phase"),
    ("reader.p99_ns", "latency that 1 % of its reads exceeded"),
    ("reader.max_ns", "its longest read"),
    ("reader.reads", "reads it made"),
];

/// Metrics of phases that count their own operations. They do not add up.
pub const WORK_METRICS: [(&str, &str); 9] = [
    ("operations", "operations that the workload counted"),
    ("ops_per_second", "operations a second, by the workload's own clock"),
    ("bytes_per_second", "bytes read or written a second, by the same clock"),
    ("latency.mean_ns", "mean latency of the operations"),
    ("latency.p50_ns", "their median latency"),
    ("latency.p90_ns", "latency that 10 % of them exceeded"),
    ("latency.p99_ns", "latency that 1 % of them exceeded"),
    ("latency.p999_ns", "latency that 0.1 % of them exceeded"),
    ("latency.max_ns", "the longest operation"),
];

/// Metrics of phases that read, write and sync one file. They do not add up, and a phase has those
/// of what it does.
pub const FILE_METRICS: [(&str, &str); 16] = [
    ("read.ops_per_second", "reads of the workload a second, by its own clock"),
    ("read.p50_ns", "their median latency"),
    ("read.p99_ns", "latency that 1 % of them exceeded"),
    ("read.p999_ns", "latency that 0.1 % of them exceeded"),
    ("read.max_ns", "the longest read"),
    ("write.ops_per_second", "writes of the workload a second, by its own clock"),
    ("write.p50_ns", "their median latency"),
    ("write.p99_ns", "latency that 1 % of them exceeded"),
    ("write.p999_ns", "latency that 0.1 % of them exceeded"),
    ("write.max_ns", "the longest write"),
    ("sync.ops_per_second", "syncs of the workload a second, by its own clock"),
    ("sync.p50_ns", "their median latency"),
    ("sync.p99_ns", "latency that 1 % of them exceeded"),
    ("sync.p999_ns", "latency that 0.1 % of them exceeded"),
    ("sync.max_ns", "the longest sync"),
    ("beside.bytes_per_second", "bytes a second that the writer beside transactions wrote"),
];

/// Every metric whose name is fixed, with what it is.
pub fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    measured().chain(FILE_METRICS).chain(READER_METRICS)
}

/// Those of them that ssdlab itself measures of a phase; the others the workload reports.
pub fn measured() -> impl Iterator<Item = (&'static str, &'static str)> {
    METRICS.into_iter().chain(LEDGER_METRICS).chain(FLASH_METRICS).chain(WORK_METRICS)
}

fn is_in(metrics: &[(&str, &str)], name: &str) -> bool {
    metrics.iter().any(|(known, _)| *known == name)
}

/// Whether more of it is better; of everything else, less is.
#[must_use]
pub fn is_better_higher(name: &str) -> bool {
    let endings = ["_per_second", "_per_s", "_iops", ".higher_is_better"];
    endings.iter().any(|ending| name.ends_with(ending))
        || ["operations", "reader.reads", "repeats_until_worn", YEARS_UNTIL_WORN].contains(&name)
}

/// The unit of a metric: `ns`, `B`, `B/s`, `1/s` or `years`; empty for counts, and for what a
/// program reports without saying.
#[must_use]
pub fn unit(name: &str) -> &'static str {
    let units = [
        ("_ns", "ns"),
        ("bytes_per_second", "B/s"),
        ("bytes_per_s", "B/s"),
        ("_per_second", "1/s"),
        ("_iops", "1/s"),
        ("_bytes", "B"),
        (YEARS_UNTIL_WORN, "years"),
    ];
    units.iter().find(|(ending, _)| name.ends_with(ending)).map_or("", |(_, unit)| unit)
}

/// Whether a plan may name this metric.
#[must_use]
pub fn is_known(name: &str) -> bool {
    all().any(|(known, _)| known == name) || is_reported(name)
}

/// Whether a program reports it about itself.
fn is_reported(name: &str) -> bool {
    [FIO_PREFIX, BONNIE_PREFIX, PHORONIX_PREFIX].iter().any(|prefix| name.starts_with(prefix))
}

/// Whether a metric depends on what is under the block layer: times, what programs time, and what
/// a simulated drive did.
#[must_use]
pub fn is_of_the_drive(name: &str) -> bool {
    let is_reported = !is_in(&METRICS, name) && !is_in(&LEDGER_METRICS, name);
    is_reported || name.ends_with("_ns") || ["flash_written_bytes", "erases"].contains(&name)
}

/// How values of one metric in several phases are taken together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Together {
    /// They add up.
    Sum,
    /// Rates and latencies of unlike work: by their geometric mean, in which a tenth more counts
    /// the same in every phase (P. J. Fleming and J. J. Wallace, "How not to lie with statistics:
    /// the correct way to summarize benchmark results", Communications of the ACM 29, 1986).
    GeometricMean,
    /// They are not.
    Never,
}

/// How values of a metric in several phases are taken together.
#[must_use]
pub fn together(name: &str) -> Together {
    match name {
        "operations" => Together::Sum,
        _ if is_in(&METRICS, name) || is_in(&LEDGER_METRICS, name) => Together::Sum,
        _ if is_in(&WORK_METRICS, name) => Together::GeometricMean,
        _ => Together::Never,
    }
}

/// Values of a metric in several phases, taken together; `None` where there are none, or where they
/// cannot be.
#[must_use]
pub fn taken_together(name: &str, values: &[f64]) -> Option<f64> {
    match (together(name), values) {
        (_, []) => None,
        (_, [value]) => Some(*value),
        (Together::Sum, _) => Some(values.iter().sum()),
        (Together::GeometricMean, _) => {
            let logs: f64 = values.iter().map(|value| value.ln()).sum();
            Some((logs / values.len() as f64).exp())
        }
        (Together::Never, _) => None,
    }
}

/// The known names, for messages.
#[must_use]
pub fn names() -> String {
    let known: Vec<_> = all().map(|(name, _)| name).collect();
    format!(
        "{}, or {FIO_PREFIX}NAME and {BONNIE_PREFIX}NAME for what fio and bonnie++ report",
        known.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_follow_from_names() {
        let expected = [
            ("settled_ns", "ns"),
            ("reader.p99_ns", "ns"),
            ("written_bytes", "B"),
            ("fio.read_bytes_per_s", "B/s"),
            ("bytes_per_second", "B/s"),
            ("sync.ops_per_second", "1/s"),
            ("fio.write_iops", "1/s"),
            ("years_until_worn", "years"),
            ("write_requests", ""),
        ];
        for (name, of_name) in expected {
            assert_eq!(unit(name), of_name, "{name}");
        }
    }

    #[test]
    fn times_add_up_and_rates_do_not() {
        assert_eq!(taken_together("time_ns", &[10.0, 30.0]), Some(40.0));
        let mean = taken_together("ops_per_second", &[4.0, 9.0]).unwrap();
        assert!((mean - 6.0).abs() < 1e-9);
        assert_eq!(taken_together("reader.p99_ns", &[1.0, 2.0]), None);
        assert_eq!(taken_together("reader.p99_ns", &[2.0]), Some(2.0));
        assert_eq!(taken_together("time_ns", &[]), None);
    }
}
