//! Checks that completions are matched with what they complete, in all formats that list them as
//! events of their own.

use ssdlab_trace::{RequestKind, TraceFormat, TraceOptions, TraceReader, merge};

use super::{KERNEL, KERNEL_TEXT, drain, drive, queued, read, requests};

/// Kind, submission and latency in ns of each request.
fn latencies(trace: &str, options: &TraceOptions) -> Vec<(RequestKind, u64, Option<u64>)> {
    let of = |request: &ssdlab_trace::Request| {
        let latency = request.completed_ns.map(|time| time - request.submitted_ns);
        (request.kind, request.submitted_ns, latency)
    };
    requests(trace.as_bytes(), TraceFormat::Blkparse, options).iter().map(of).collect()
}

/// A trace of events like `5 D W 8 + 8`: the time in µs, the action, RWBS and sectors.
fn events(events: &[&str]) -> String {
    let line = |event: &&str| {
        let (time, rest) = event.split_once(' ').unwrap();
        let (action, rest) = rest.split_once(' ').unwrap();
        let (rwbs, sectors) = rest.split_once(' ').unwrap_or((rest, ""));
        format!("  8,0  0  1  0.{time:0>6}000  7 {action:>2} {rwbs:>3} {sectors} [x]\n")
    };
    events.iter().map(line).collect()
}

/// Case `trace-completions-ignored`: from D to C, as btt says.
#[test]
fn case_trace_completions_ignored_latencies_are_from_issue_to_completion() {
    let simple = "  8,0    1        1     0.000000000   500  Q   W 1000 + 8 [prog]\n\
        \x20 8,0    1        3     0.000002000   500  D   W 1000 + 8 [prog]\n\
        \x20 8,0    1        4     0.001002000     0  C   W 1000 + 8 [0]\n\
        \x20 8,0    1        5     0.010000000   500  Q   R 2000 + 8 [prog]\n\
        \x20 8,0    1        7     0.010002000   500  D   R 2000 + 8 [prog]\n\
        \x20 8,0    1        8     0.010202000     0  C   R 2000 + 8 [0]\n";
    let expected =
        [(RequestKind::Write, 0, Some(1_000_000)), (RequestKind::Read, 10_000_000, Some(200_000))];
    assert_eq!(latencies(simple, &TraceOptions::default()), expected);
    let expected =
        [(RequestKind::Write, 0, Some(1_002_000)), (RequestKind::Read, 10_000_000, Some(202_000))];
    assert_eq!(latencies(simple, &queued()), expected);
    let discard = "259,0 1 9487 7.124393062 101  D  DS 0 + 1172272 [kworker/1:1H]\n\
        259,0 3 2432 7.125765420 8701  C  DS 0 + 1172272 [0]\n";
    assert_eq!(
        latencies(discard, &TraceOptions::default()),
        [(RequestKind::Discard, 0, Some(1_372_358))]
    );
}

/// What one processor issued, another one completed. The trace ends before three that were queued.
#[test]
fn case_trace_completions_ignored_of_a_real_trace() {
    for (options, complete) in [(TraceOptions::default(), 14), (queued(), 24)] {
        let reader = |file| TraceReader::new(file, TraceFormat::Blktrace, &options).unwrap();
        let (merged, error) = drain(merge(KERNEL.map(reader).into()));
        assert_eq!(error, None);
        let known = merged.iter().filter(|request| request.completed_ns.is_some());
        assert_eq!(known.count(), complete);
        assert_eq!(merged, requests(KERNEL_TEXT, TraceFormat::Blkparse, &options));
    }
}

/// Of this file, btt says D2C: at least 0.2 ms, at most 1 ms, N = 2.
#[test]
fn case_trace_completions_ignored_of_a_binary_trace() {
    let trace = include_bytes!("../fixtures/two.blktrace.0");
    let found = requests(trace, TraceFormat::Blktrace, &TraceOptions::default());
    let latency = |request: &ssdlab_trace::Request| {
        request.completed_ns.map(|time| time - request.submitted_ns)
    };
    let found: Vec<_> = found.iter().map(latency).collect();
    assert_eq!(found, [Some(1_000_000), Some(200_000)]);
}

#[test]
fn case_trace_completions_ignored_parts_and_requeues_count_once() {
    let trace = events(&[
        "10 D W 0 + 16",
        "11 D W 0 + 16",
        "20 C W 0 + 16",
        "30 C W 0 + 8",
        "35 C W 8 + 8",
        "40 D R 64 + 8",
        "41 R R 64 + 8",
        "50 D R 64 + 8",
        "55 C R 64 + 8",
        "56 C R 512 + 8",
        "60 D R 96 + 8",
    ]);
    let expected = [
        (RequestKind::Write, 0, Some(10_000)),
        (RequestKind::Write, 1_000, Some(24_000)),
        (RequestKind::Read, 40_000, Some(5_000)),
        (RequestKind::Read, 50_000, None),
    ];
    assert_eq!(latencies(&trace, &TraceOptions::default()), expected);
}

#[test]
fn case_trace_completions_ignored_merges_and_splits_of_what_was_queued() {
    let trace = events(&[
        "10 Q W 8 + 8",
        "11 Q W 16 + 8",
        "12 M W 16 + 8",
        "13 Q W 0 + 8",
        "14 F W 0 + 8",
        "20 D W 0 + 24",
        "30 C W 0 + 24",
        "40 Q R 100 + 300",
        "41 X R 100 / 200",
        "42 D R 200 + 100",
        "43 D R 100 + 100",
        "44 D R 300 + 100",
        "50 C R 200 + 100",
        "60 C R 300 + 100",
        "70 C R 100 + 100",
    ]);
    let expected = [
        (RequestKind::Write, 0, Some(20_000)),
        (RequestKind::Write, 1_000, Some(19_000)),
        (RequestKind::Write, 3_000, Some(17_000)),
        (RequestKind::Read, 30_000, Some(30_000)),
    ];
    assert_eq!(latencies(&trace, &queued()), expected);
}

#[test]
fn case_trace_completions_ignored_flushes_are_distinguished() {
    let trace = events(&["10 Q FWS", "11 D FN", "15 Q FWS", "20 C FN 0", "21 C FWS 0"]);
    assert_eq!(latencies(&trace, &TraceOptions::default()), [(RequestKind::Flush, 0, Some(9_000))]);
    let expected = [(RequestKind::Flush, 0, Some(11_000)), (RequestKind::Flush, 5_000, None)];
    assert_eq!(latencies(&trace, &queued()), expected);
}

/// A drive below another one completes the same sectors.
#[test]
fn case_trace_completions_ignored_those_of_other_drives_do_not_count() {
    let below = events(&["12 C W 0 + 8"]).replace("8,0", "8,16");
    let trace = format!("{}{below}{}", events(&["10 D W 0 + 8"]), events(&["20 C W 0 + 8"]));
    let expected = [(RequestKind::Write, 0, Some(10_000))];
    assert_eq!(latencies(&trace, &TraceOptions::default()), expected);
    assert_eq!(latencies(&trace, &drive("8,0")), expected);
}

/// What waits for a completion is not lost when the trace ends or breaks off.
#[test]
fn case_trace_completions_ignored_what_never_completes_is_still_read() {
    let trace = events(&["10 D W 0 + 8", "12 D W 8 + 8", "13 C W 8 + 8", "14 D W x + 8"]);
    let (found, error) = read(trace.as_bytes(), TraceFormat::Blkparse, &TraceOptions::default());
    let times: Vec<_> = found.iter().map(|request| request.completed_ns).collect();
    assert_eq!(times, [None, Some(3_000)]);
    assert!(error.unwrap().contains("line 4"));
}
