//! Reads and writes files, with the engine.

use std::collections::BTreeMap;
use std::fs::File;

use crate::engine::{self, EngineError, EngineJob, OperationTally};
use rustix::fs::{Mode, OFlags};
use ssdlab_plan::io::{Io, IoContents, IoPattern, SyncBy};
use ssdlab_stats::latency::LatencySummary;

use super::synthetic::content::ContentPool;
use super::{PhaseContext, PhaseOutcome, WorkloadError, open_load};

/// As much text as the pool has that repeats nothing.
const TEXT_BYTES: usize = 2 << 20;

/// Opens the files and performs a phase on them.
pub(super) fn run(
    io: &Io,
    pool: &ContentPool,
    seed: u64,
    place: PhaseContext<'_>,
) -> Result<PhaseOutcome, WorkloadError> {
    let files = io.names().map(|name| open(io, &name, place));
    let files = files.collect::<Result<Vec<File>, _>>()?;
    let mut text = Vec::new();
    if io.contents == IoContents::Text {
        text.resize(TEXT_BYTES, 0);
        pool.fill_text(seed, 0, &mut text);
    }
    let job = EngineJob { io, files: &files, text: &text, seed };
    let rules = place.rules;
    let mut go_on = |elapsed| !rules.interrupt.is_set() && elapsed <= rules.limit;
    let done = engine::run(&job, &mut go_on).map_err(|error| match error {
        EngineError::Stopped if rules.interrupt.is_set() => WorkloadError::Interrupted,
        EngineError::Stopped => WorkloadError::Limit { limit: rules.limit },
        cause => WorkloadError::Engine { file: io.file.clone(), cause },
    })?;
    let mut reported = BTreeMap::new();
    for (name, counted) in [("read", &done.reads), ("write", &done.writes), ("sync", &done.syncs)] {
        reported.extend(metrics(name, counted));
    }
    Ok(PhaseOutcome {
        application_bytes: Some(done.writes.bytes),
        ring_bytes: done.writes.bytes,
        remark: open_load::remark(&done.moved(), io.period_ns),
        counted: Some(done.moved()),
        reported,
        ..PhaseOutcome::default()
    })
}

fn open(io: &Io, name: &str, place: PhaseContext<'_>) -> Result<File, WorkloadError> {
    let mut flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    flags.set(OFlags::DIRECT, io.direct);
    flags.set(OFlags::APPEND, io.pattern == IoPattern::Append);
    flags.set(OFlags::DSYNC, io.sync_by == SyncBy::ODsync);
    let step = if io.direct { "open, past the page cache," } else { "open" };
    let opened = rustix::fs::open(place.directory.join(name), flags, Mode::empty());
    opened.map(File::from).map_err(WorkloadError::operation(step, name))
}

/// The metrics of one kind of operation, by name; empty if there was none.
pub(super) fn metrics(kind: &str, counted: &OperationTally) -> Vec<(String, f64)> {
    let seconds = counted.took.as_secs_f64();
    let latency = LatencySummary::of(&counted.latencies).filter(|_| seconds > 0.0);
    let Some(LatencySummary { p50_ns, p99_ns, p999_ns, max_ns, .. }) = latency else {
        return Vec::new();
    };
    let values = [
        ("ops_per_second", counted.operations as f64 / seconds),
        ("p50_ns", p50_ns as f64),
        ("p99_ns", p99_ns as f64),
        ("p999_ns", p999_ns as f64),
        ("max_ns", max_ns as f64),
    ];
    values.map(|(name, value)| (format!("{kind}.{name}"), value)).into()
}

#[cfg(test)]
mod tests;
