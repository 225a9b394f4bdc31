use proptest::prelude::*;
use ssdlab_trace::{Flags, Request, Tally};

use super::*;

fn chart(requests: &[Request]) -> Chart {
    let mut tally = Tally::new();
    for request in requests {
        tally.add(request);
    }
    let summary = tally.finish();
    let mut timeline = TraceTimeline::new(&summary);
    for request in requests {
        timeline.add(request);
    }
    timeline.finish();
    trace("trace", "a <log>", &summary, &timeline)
}

fn request(submitted_ns: u64, kind: RequestKind, offset_bytes: u64) -> Request {
    Request {
        submitted_ns,
        completed_ns: Some(submitted_ns + 20),
        kind,
        offset_bytes,
        length_bytes: if kind == RequestKind::Flush { 0 } else { 4096 },
        flags: Flags::empty(),
        origin: None,
    }
}

#[test]
fn kinds_that_do_not_occur_have_no_panel() {
    let found = chart(&[request(0, RequestKind::Write, 0), request(50, RequestKind::Flush, 0)]);
    assert!(found.svg.contains("written: position") && found.svg.contains("in flight"));
    assert!(!found.svg.contains("read"), "{}", found.svg);
    assert!(
        found.says.contains("1 write requests of 4.10 kB; 1 flush requests."),
        "{}",
        found.says
    );
    assert!(found.svg.contains("a &lt;log&gt;"));
    assert!(found.png().is_ok() && chart(&[]).png().is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]
    #[test]
    fn a_chart_stays_small_however_many_requests_there_are(
        requests in prop::collection::vec((0..3_usize, 0..1_u64 << 20), 20_000)
    ) {
        let kinds = [RequestKind::Read, RequestKind::Write, RequestKind::Discard];
        let requests: Vec<Request> = (0..)
            .zip(requests)
            .map(|(at, (kind, page))| request(at * 100, kinds[kind], page * 4096))
            .collect();
        prop_assert!(chart(&requests).svg.len() < 400_000);
    }
}
