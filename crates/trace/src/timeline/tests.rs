use proptest::prelude::*;

use super::*;
use crate::{Flags, Tally};

const ROW: u64 = 512;
const STEP: u64 = 1000;

fn request(step: u64, took_ns: u64, kind: RequestKind, row: u64, rows: u64) -> Request {
    Request {
        submitted_ns: step * STEP,
        completed_ns: Some(step * STEP + took_ns),
        kind,
        offset_bytes: row * ROW,
        length_bytes: rows * ROW,
        flags: Flags::empty(),
        origin: None,
    }
}

fn timeline(requests: &[Request]) -> TraceTimeline {
    let mut tally = Tally::new();
    for request in requests {
        tally.add(request);
    }
    let mut timeline = TraceTimeline::new(&tally.finish());
    for request in requests {
        timeline.add(request);
    }
    timeline.finish();
    timeline
}

/// A request that makes the timeline as long and as wide as it can be in whole units.
fn corner() -> Request {
    request(199, STEP, RequestKind::Write, 39, 1)
}

#[test]
fn what_lies_beside_is_one_patch() {
    let found = timeline(&[
        request(0, 1, RequestKind::Discard, 0, 40),
        request(3, 1, RequestKind::Write, 4, 2),
        request(4, 1, RequestKind::Write, 4, 1),
        request(4, 1, RequestKind::Write, 5, 1),
        request(5, 1, RequestKind::Write, 5, 1),
        corner(),
    ]);
    assert_eq!((found.step_ns(), found.row_bytes()), (STEP, ROW));
    assert_eq!(found.patches(RequestKind::Discard), [Patch { steps: 0..1, rows: 0..40 }]);
    let expected = [
        Patch { steps: 3..5, rows: 4..6 },
        Patch { steps: 5..6, rows: 5..6 },
        Patch { steps: 199..200, rows: 39..40 },
    ];
    assert_eq!(found.patches(RequestKind::Write), expected);
    assert!(found.patches(RequestKind::Read).is_empty());
    assert_eq!(found.bytes(RequestKind::Write)[3..6], [2 * ROW, 2 * ROW, ROW]);
}

#[test]
fn what_is_in_flight_is_spread_over_steps() {
    let found = timeline(&[
        request(0, 2 * STEP + STEP / 2, RequestKind::Read, 0, 1),
        request(1, STEP, RequestKind::Read, 1, 1),
        corner(),
    ]);
    let steps = found.in_flight();
    let depth = |mean, least, most| TimelineStep { mean, least, most };
    assert_eq!(steps.len(), TraceTimeline::STEPS);
    let expected = [depth(1.0, 1, 1), depth(2.0, 2, 2), depth(0.5, 0, 1), depth(0.0, 0, 0)];
    assert_eq!(steps[..4], expected);
    assert_eq!(steps[199], depth(1.0, 1, 1));
}

#[test]
fn a_trace_of_no_time_has_one_step() {
    let found = timeline(&[request(0, 0, RequestKind::Write, 0, 1)]);
    assert_eq!(found.bytes(RequestKind::Write), [ROW]);
    assert_eq!(found.in_flight().len(), 1);
    assert_eq!(found.patches(RequestKind::Write), [Patch { steps: 0..1, rows: 0..40 }]);
}

proptest! {
    #[test]
    fn patches_are_where_requests_are(
        requests in prop::collection::vec((0..40_u64, 0..40_u64, 1..9_u64), 0..80)
    ) {
        let mut requests: Vec<Request> = requests
            .into_iter()
            .map(|(step, row, rows)| request(step, 1, RequestKind::Write, row, rows.min(40 - row)))
            .collect();
        requests.sort_by_key(|request| request.submitted_ns);
        requests.push(corner());
        let found = timeline(&requests);
        let patches = found.patches(RequestKind::Write);
        for step in 0..TraceTimeline::STEPS {
            for row in 0..TraceTimeline::ROWS {
                let at = row as u64 * ROW;
                let has = |request: &Request| {
                    request.submitted_ns == step as u64 * STEP
                        && (request.offset_bytes..request.offset_bytes + request.length_bytes)
                            .contains(&at)
                };
                let covers =
                    |patch: &&Patch| patch.steps.contains(&step) && patch.rows.contains(&row);
                let covered = patches.iter().filter(covers).count();
                prop_assert_eq!(covered, usize::from(requests.iter().any(has)));
            }
        }
        let bytes: u64 = requests.iter().map(|request| request.length_bytes).sum();
        prop_assert_eq!(found.bytes(RequestKind::Write).iter().sum::<u64>(), bytes);
    }
}
