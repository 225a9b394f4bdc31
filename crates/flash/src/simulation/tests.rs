//! What a simulation counts, on a drive small enough to count along.

use crate::{Condition, Preparation, Specification};

use super::*;

/// 64 pages in blocks of 4, outside time, 8 blocks spare.
const SMALL: &str = "name = \"small\"\ncapacity = \"256 KiB\"\nspare_factor = 0.3333\n\
                     pages_per_block = 4\n[wear]\nendurance = 1000\n";

const TIMED: &str = "[write_buffer]\nsize = \"64 KiB\"\n[timing]\nchannels = 1\n\
                     dies_per_channel = 1\nread = \"50 us\"\nprogram = \"1 ms\"\nerase = \"3 ms\"\n\
                     bus = \"4096 kB/s\"\nlink_read = \"4096 kB/s\"\nlink_write = \"4096 kB/s\"\n";

fn job<S>(text: &str, condition: Condition, source: S) -> SimulationJob<S> {
    let specification = Specification::parse(text).expect("the file is right");
    SimulationJob { drive: Preparation::whole(specification, condition, 1), source }
}

fn unwatched(_: SimulationStage, _: u64, _: u64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn request(submitted_ns: u64, kind: RequestKind, page: u64, flags: Flags) -> Request {
    let length_bytes = if kind == RequestKind::Flush { 0 } else { 4096 };
    Request {
        submitted_ns,
        completed_ns: None,
        kind,
        offset_bytes: page * 4096,
        length_bytes,
        flags,
        origin: None,
    }
}

fn replayed(text: &str, requests: Vec<Request>) -> SimulationOutcome {
    let trace = requests.into_iter().map(Ok);
    let source = TraceFiles { files: vec!["trace".to_owned()], drive: None, is_queued: false };
    let job = job(text, Condition::Purged, source);
    replay(&job, trace, |_| ClampedTimes::default(), &mut unwatched).expect("it fits the drive")
}

#[test]
fn a_write_with_preflush_and_fua_lies_between_two_flushes_where_there_is_no_fua() {
    let both = Flags::PREFLUSH | Flags::FUA;
    let timed = format!("{SMALL}{TIMED}");
    for (drive, flushes) in [(timed.clone(), 2), (format!("{timed}fua_latency = \"1 ms\"\n"), 1)] {
        let outcome = replayed(&drive, vec![request(0, RequestKind::Write, 1, both)]);
        assert_eq!((outcome.host.flushes, outcome.host.written_pages), (flushes, 1), "{drive}");
    }
    let outcome = replayed(SMALL, vec![request(0, RequestKind::Write, 1, both)]);
    assert_eq!((outcome.host.flushes, outcome.host.written_pages), (2, 1));
    // A flush is not flushed before.
    let outcome = replayed(SMALL, vec![request(0, RequestKind::Flush, 0, Flags::PREFLUSH)]);
    assert_eq!(outcome.host.flushes, 1);
}

#[test]
fn a_write_into_the_buffer_takes_the_link_and_a_flush_the_flash() {
    let outcome = replayed(
        &format!("{SMALL}{TIMED}"),
        vec![
            request(0, RequestKind::Write, 1, Flags::empty()),
            request(10_000_000, RequestKind::Flush, 0, Flags::empty()),
        ],
    );
    let latency = |command: &str| {
        outcome
            .latencies
            .iter()
            .find(|latency| latency.command == command)
            .map(|l| l.summary.max_ns)
    };
    // A page at 4,096,000 bytes a second takes 1 ms over the link, as over the bus. What is kept
    // of a latency are three digits.
    let near =
        |found: Option<u64>, ms: u64| found.is_some_and(|ns| ns.abs_diff(ms * 1_000_000) < 10_000);
    assert!(near(latency("write"), 1), "{:?}", latency("write"));
    assert!(near(latency("flush"), 2), "{:?}", latency("flush"));
    assert_eq!(outcome.simulated_ns, Some(12_000_000));
}

#[test]
fn a_lifetime_is_what_is_left_of_the_erases() {
    let synthetic = Synthetic {
        workload: DriveWorkload {
            pattern: crate::Pattern::Sequential,
            ..DriveWorkload::uniform_writes(64)
        },
        warm_up_ppm: 10_000_000,
        overwrites_ppm: 100_000_000,
        queue_depth: 1,
    };
    let outcome = super::synthetic(&job(SMALL, Condition::Filled, synthetic), &mut unwatched)
        .expect("it fits the drive");
    let lifetime = outcome.lifetime.expect("blocks were erased");
    // Pages in order are erased once each: 6400 pages cost 1600 erases of 27 blocks. The first 110
    // capacities have used what is not left.
    let left = 1000.0 - outcome.wear.mean;
    let expected = left * 27.0 * 4.0 * 4096.0;
    let found = lifetime.host_bytes_to_average;
    assert!((found / expected - 1.0).abs() < 0.001, "{found} instead of {expected}");
    assert!(lifetime.host_bytes_to_first_block <= found);
    assert_eq!(lifetime.years_to_average, None, "this drive is outside time");
}

#[test]
fn years_are_those_of_the_traces_rate() {
    // 1999 steps are a year.
    let step_ns = 31_557_600_000_000_000 / 1999;
    let requests =
        (0..2000).map(|n| request(n * step_ns, RequestKind::Write, n % 64, Flags::empty()));
    let outcome = replayed(SMALL, requests.collect());
    let lifetime = outcome.lifetime.expect("blocks were erased");
    let (years, mean) = (lifetime.years_to_average.unwrap(), outcome.wear.mean);
    assert!((years - (1000.0 - mean) / mean).abs() < 0.001 * years, "{years} at {mean} a year");
}

#[test]
fn thinning_out_keeps_the_amplification() {
    let synthetic = Synthetic {
        workload: DriveWorkload::uniform_writes(64),
        warm_up_ppm: 0,
        overwrites_ppm: 100_000_000,
        queue_depth: 1,
    };
    let outcome = super::synthetic(&job(SMALL, Condition::Filled, synthetic), &mut unwatched)
        .expect("it fits the drive");
    assert!((100..=201).contains(&outcome.series.len()), "{} samples", outcome.series.len());
    let mut before = 0;
    let flash: f64 = outcome
        .series
        .iter()
        .map(|sample| {
            let host = (sample.moment.host_pages - before) as f64;
            before = sample.moment.host_pages;
            host * sample.write_amplification.unwrap_or(0.0)
        })
        .sum();
    assert_eq!(before, outcome.host.written_pages);
    assert!((flash - outcome.flash_pages as f64).abs() < 1.0, "{flash} of {}", outcome.flash_pages);
}

#[test]
fn progress_is_told_in_order() {
    let synthetic = Synthetic {
        workload: DriveWorkload::uniform_writes(64),
        warm_up_ppm: 1_000_000,
        overwrites_ppm: 1_000_000,
        queue_depth: 1,
    };
    let mut told = Vec::new();
    super::synthetic(&job(SMALL, Condition::Filled, synthetic), &mut |stage, done, total| {
        assert!(done <= total);
        if told.last() != Some(&stage) {
            told.push(stage);
        }
        ControlFlow::Continue(())
    })
    .expect("it fits the drive");
    assert_eq!(
        told,
        [SimulationStage::Conditioning, SimulationStage::WarmUp, SimulationStage::Running]
    );
}

#[test]
fn who_is_told_of_progress_may_end_it() {
    for last in [SimulationStage::Conditioning, SimulationStage::WarmUp, SimulationStage::Running] {
        let synthetic = Synthetic {
            workload: DriveWorkload::uniform_writes(64),
            warm_up_ppm: 1_000_000,
            overwrites_ppm: 1_000_000,
            queue_depth: 1,
        };
        let job = job(SMALL, Condition::Filled, synthetic);
        let done = super::synthetic(&job, &mut |stage, _, _| {
            if stage == last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert!(matches!(done, Err(SimulationError::Interrupted)), "{last:?}");
    }
}
