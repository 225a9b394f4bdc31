//! Whether a drive is fast enough for a program, by what has been published of the program's
//! demands. Each has its source; where it is the speed of a hard disk rather than a demand, it says
//! so.

use schemars::JsonSchema;
use serde::Serialize;

/// What a probe has measured of a drive's synced writes.
#[derive(Debug, Clone, Copy)]
pub struct SyncedSpeed {
    /// What one in a hundred flushes alone exceeded, in ns.
    pub flush_p99_ns: f64,
    /// How many flushes that is of.
    pub flushes: u64,
    /// Random writes of 4 KiB a second, one at a time, each flushed.
    pub synced_per_s: f64,
    /// Random writes of 4 KiB a second, 32 at a time, none flushed.
    pub deep_per_s: f64,
}

/// Whether a drive meets a demand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DemandOutcome {
    Met,
    Missed,
    /// What was measured cannot tell.
    Unclear,
}

/// A program's demand, and whether a drive meets it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DemandVerdict {
    /// The program.
    pub program: &'static str,
    /// What is asked of the drive, in words.
    pub demand: &'static str,
    /// The number in it.
    pub threshold: f64,
    /// What was measured, in the same unit.
    pub measured: f64,
    /// The unit of both.
    pub unit: &'static str,
    /// Whether the drive meets it.
    pub outcome: DemandOutcome,
    /// Where it was published.
    pub source: &'static str,
}

/// The fewest flushes of which a 99th percentile says anything.
const FEWEST_FLUSHES: u64 = 100;

impl SyncedSpeed {
    /// A verdict for each program.
    pub fn verdicts(&self) -> Vec<DemandVerdict> {
        let met = |is_met: bool| if is_met { DemandOutcome::Met } else { DemandOutcome::Missed };
        let flush_ms = self.flush_p99_ns / 1e6;
        let etcd = match self.flushes {
            ..FEWEST_FLUSHES => DemandOutcome::Unclear,
            _ => met(flush_ms < 10.0),
        };
        // An OSD's writes are safe when they are acknowledged, but many share a flush: its rate is
        // between those of synced writes alone and of many that are not synced.
        let ceph = match (self.synced_per_s >= 1000.0, self.deep_per_s >= 1000.0) {
            (true, _) => DemandOutcome::Met,
            (false, true) => DemandOutcome::Unclear,
            (false, false) => DemandOutcome::Missed,
        };
        // Two syncs each.
        let transactions = self.synced_per_s / 2.0;
        let of = |program, demand, (threshold, measured, unit), outcome, source| DemandVerdict {
            program,
            demand,
            threshold,
            measured,
            unit,
            outcome,
            source,
        };
        vec![
            of(
                "etcd",
                "99 of 100 syncs of its log take less than 10 ms",
                (10.0, flush_ms, "ms"),
                etcd,
                "etcd, FAQ: wal_fsync_duration_seconds, \"p99 duration should be less than 10ms\"",
            ),
            of(
                "Ceph OSD",
                "1000 random writes of 4 KiB a second, below which an SSD is taken to be measured \
                 wrongly",
                (1000.0, self.synced_per_s, "/s"),
                ceph,
                "Ceph, release notes: osd_mclock_iops_capacity_low_threshold_ssd (tracker 70774)",
            ),
            of(
                "PostgreSQL",
                "more commits a second of one client than the 120 of a hard disk at 7200/min",
                (120.0, self.synced_per_s, "/s"),
                met(self.synced_per_s > 120.0),
                "G. Smith, PostgreSQL 9.0 High Performance, 2010: commits by rotation speed",
            ),
            of(
                "SQLite",
                "more transactions a second, of two syncs each, than the 60 of a hard disk at \
                 7200/min",
                (60.0, transactions, "/s"),
                met(transactions > 60.0),
                "SQLite, FAQ 19: two rotations a transaction, \"about 60 transactions per second\"",
            ),
        ]
    }
}

#[cfg(test)]
mod tests;
