use proptest::prelude::*;

use super::*;

fn request(submitted_ns: u64, took_ns: u64, kind: RequestKind, at: u64, length: u64) -> Request {
    Request {
        submitted_ns,
        completed_ns: Some(submitted_ns + took_ns),
        kind,
        offset_bytes: at * 4096,
        length_bytes: length * 4096,
        flags: Flags::empty(),
        origin: None,
    }
}

fn summary(requests: &[Request]) -> TraceSummary {
    let mut tally = Tally::new();
    for request in requests {
        tally.add(request);
    }
    tally.finish()
}

#[test]
fn reads_between_writes_break_no_sequence() {
    let found = summary(&[
        request(0, 1, RequestKind::Write, 10, 2),
        request(1, 1, RequestKind::Read, 500, 1),
        request(2, 1, RequestKind::Write, 12, 1),
        request(3, 1, RequestKind::Write, 3, 1),
        request(4, 1, RequestKind::Write, 14, 4),
    ]);
    let writes = found.of(RequestKind::Write).unwrap();
    assert_eq!((writes.requests, writes.bytes), (4, 8 * 4096));
    assert_eq!((writes.sequential, writes.seeks), (1, 2));
    assert_eq!(writes.sequential_share(), Some(1.0 / 3.0));
    // Back from 13 to 3, and on from 4 to 14.
    let distances = writes.seek_distances.unwrap();
    assert_eq!((distances.least_bytes, distances.most_bytes), (10 * 4096, 10 * 4096));
    let sizes = writes.sizes.unwrap();
    assert_eq!((sizes.least_bytes, sizes.median_bytes, sizes.most_bytes), (4096, 4096, 16384));
    assert!((sizes.mean_bytes - 8192.0).abs() < 1e-9);
    let reads = found.of(RequestKind::Read).unwrap();
    assert_eq!((reads.seeks, reads.sequential_share()), (0, None));
    assert_eq!(found.end_bytes, 501 * 4096);
    assert!(found.of(RequestKind::Discard).is_none());
}

#[test]
fn idle_time_is_what_no_request_takes() {
    let found = summary(&[
        request(0, 10, RequestKind::Write, 0, 1),
        request(5, 10, RequestKind::Write, 1, 1),
        request(35, 5, RequestKind::Flush, 0, 0),
        request(50, 50, RequestKind::Read, 0, 1),
    ]);
    assert_eq!(found.span_ns, 100);
    let in_flight = found.in_flight.unwrap();
    assert_eq!(in_flight.most, 2);
    // Flights of 10, 10, 5 and 50 ns in 100 ns.
    assert!((in_flight.mean - 0.75).abs() < 1e-9);
    assert!((in_flight.mean_at_submission - 1.25).abs() < 1e-9);
    assert_eq!((in_flight.idle_ns, in_flight.idle_gaps), (30, 2));
    assert_eq!(in_flight.longest_idle_ns, 20);
    let flushes = found.of(RequestKind::Flush).unwrap();
    assert_eq!((flushes.bytes, flushes.sizes, flushes.seeks), (0, None, 0));
    assert_eq!(flushes.latencies.unwrap().max_ns, 5);
}

#[test]
fn what_is_not_completed_is_counted_as_that() {
    let mut lost = request(7, 0, RequestKind::Write, 1, 1);
    lost.completed_ns = None;
    lost.flags = Flags::FUA | Flags::SYNC;
    let found = summary(&[request(0, 2, RequestKind::Write, 0, 1), lost]);
    let writes = found.of(RequestKind::Write).unwrap();
    assert_eq!((writes.requests, writes.incomplete), (2, 1));
    assert_eq!((writes.fua, writes.sync, writes.preflush), (1, 1, 0));
    assert_eq!(writes.latencies.unwrap().max_ns, 2);
    let in_flight = found.in_flight.unwrap();
    assert_eq!((in_flight.most, in_flight.idle_ns, found.span_ns), (1, 5, 7));
    assert_eq!(summary(&[lost]).in_flight, None);
}

#[test]
fn nothing_comes_to_nothing() {
    let found = summary(&[]);
    assert_eq!((found.requests, found.span_ns, found.kinds.len()), (0, 0, 0));
    assert_eq!(found.in_flight, None);
}

proptest! {
    #[test]
    fn the_parts_are_the_whole(
        requests in prop::collection::vec(
            (0..100_u64, prop::option::of(0..500_u64), 0..5_usize, 0..99_u64, 1..9_u64), 1..80
        )
    ) {
        let mut now_ns = 0;
        let requests: Vec<Request> = requests
            .into_iter()
            .map(|(after_ns, took_ns, kind, at, length)| {
                now_ns += after_ns;
                let kind = RequestKind::ALL[kind];
                let length = if kind == RequestKind::Flush { 0 } else { length };
                let completed_ns = took_ns.map(|took_ns| now_ns + took_ns);
                Request { completed_ns, ..request(now_ns, 0, kind, at, length) }
            })
            .collect();
        let found = summary(&requests);
        prop_assert_eq!(found.requests, requests.len() as u64);
        let bytes: u64 = requests.iter().map(|request| request.length_bytes).sum();
        prop_assert_eq!(found.kinds.iter().map(|of| of.bytes).sum::<u64>(), bytes);
        for of in &found.kinds {
            let followers = if of.kind == RequestKind::Flush { 0 } else { of.requests - 1 };
            prop_assert_eq!(of.sequential + of.seeks, followers);
            prop_assert!(of.incomplete <= of.requests);
        }
        let known: Vec<u64> = requests
            .iter()
            .filter_map(|request| Some(request.completed_ns? - request.submitted_ns))
            .collect();
        prop_assert_eq!(found.in_flight.is_some(), !known.is_empty());
        if let Some(in_flight) = found.in_flight {
            // Time in flight, once over time and once over requests (J. Little's law).
            let flown_ns = known.iter().sum::<u64>() as f64;
            let span_ns = found.span_ns.max(1) as f64;
            prop_assert!((in_flight.mean * span_ns - flown_ns).abs() < 1e-6 * flown_ns + 1e-6);
            prop_assert!(in_flight.mean <= in_flight.most as f64);
            prop_assert!(in_flight.idle_ns <= found.span_ns);
            prop_assert!(in_flight.longest_idle_ns <= in_flight.idle_ns);
        }
    }
}
