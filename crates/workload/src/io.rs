//! Reads and writes files, with the engine.

use std::collections::BTreeMap;
use std::fs::File;
use std::time::Duration;

use crate::engine::{self as engine, Counted, EngineError, Job};
use rustix::fs::{Mode, OFlags};
use ssdlab_plan::io::{Block, End, Io, IoContents, Pattern, SyncBy, SyncPolicy};
use ssdlab_stats::latency::LatencySummary;

use super::synthetic::content::ContentPool;
use super::{Done, Place, WorkloadError, open_load};

/// As much text as the pool has that repeats nothing.
const TEXT_BYTES: usize = 2 << 20;

/// Opens the files and performs a phase on them.
pub(super) fn run(
    io: &Io,
    pool: &ContentPool,
    seed: u64,
    place: Place<'_>,
) -> Result<Done, WorkloadError> {
    let files = io.names().map(|name| open(io, &name, place));
    let files = files.collect::<Result<Vec<File>, _>>()?;
    let block = |block: &Block| engine::Block { bytes: block.bytes, weight: block.weight };
    let blocks: Vec<engine::Block> = io.blocks.iter().map(block).collect();
    let mut text = Vec::new();
    if io.contents == IoContents::Text {
        text.resize(TEXT_BYTES, 0);
        pool.fill_text(seed, 0, &mut text);
    }
    let job = Job {
        files: &files,
        span_bytes: io.size_bytes,
        pattern: match io.pattern {
            Pattern::Random => engine::Pattern::Random,
            Pattern::Sequential => engine::Pattern::Sequential,
            Pattern::Append => engine::Pattern::Append,
        },
        read_share: io.read_share,
        blocks: &blocks,
        depth: io.depth as usize,
        sync: match (io.sync, io.sync_by) {
            // The flag that the files were opened with does it.
            (SyncPolicy::Never, _) | (_, SyncBy::ODsync) => engine::SyncPolicy::Never,
            (SyncPolicy::AtEnd, _) => engine::SyncPolicy::AtEnd,
            (SyncPolicy::Every(writes), _) => engine::SyncPolicy::Every(writes),
        },
        sync_call: match io.sync_by {
            SyncBy::Fdatasync | SyncBy::ODsync => engine::SyncCall::Fdatasync,
            SyncBy::Fsync => engine::SyncCall::Fsync,
        },
        end: match io.end {
            End::Bytes(bytes) => engine::End::Bytes(bytes),
            End::Operations(operations) => engine::End::Operations(operations),
            End::Time(nanos) => engine::End::Time(Duration::from_nanos(nanos)),
        },
        period: io.period_ns.map(Duration::from_nanos),
        contents: match io.contents {
            IoContents::Random => engine::Contents::Random,
            IoContents::Text => engine::Contents::Given(&text),
            IoContents::Zeros => engine::Contents::Zeros,
        },
        seed,
    };
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
    Ok(Done {
        application_bytes: Some(done.writes.bytes),
        ring_bytes: done.writes.bytes,
        remark: open_load::remark(&done.moved(), io.period_ns),
        counted: Some(done.moved()),
        reported,
        ..Done::default()
    })
}

fn open(io: &Io, name: &str, place: Place<'_>) -> Result<File, WorkloadError> {
    let mut flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    flags.set(OFlags::DIRECT, io.direct);
    flags.set(OFlags::APPEND, io.pattern == Pattern::Append);
    flags.set(OFlags::DSYNC, io.sync_by == SyncBy::ODsync);
    let step = if io.direct { "open, past the page cache," } else { "open" };
    let opened = rustix::fs::open(place.directory.join(name), flags, Mode::empty());
    opened.map(File::from).map_err(WorkloadError::operation(step, name))
}

/// The metrics of one kind of operation, by name; empty if there was none.
pub(super) fn metrics(kind: &str, counted: &Counted) -> Vec<(String, f64)> {
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
