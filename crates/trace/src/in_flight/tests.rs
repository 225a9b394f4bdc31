use proptest::prelude::*;

use super::*;

fn intervals(requests: &[(u64, u64)], end_ns: u64) -> Vec<(u64, u64, u64)> {
    let mut tracker = DepthTracker::default();
    let mut found = Vec::new();
    let mut lasted = |one: DepthInterval| found.push((one.from_ns, one.to_ns, one.depth));
    for (submitted_ns, completed_ns) in requests {
        tracker.submit(*submitted_ns, *completed_ns, &mut lasted);
    }
    tracker.finish(end_ns, lasted);
    found
}

#[test]
fn a_stretch_ends_where_the_number_changes() {
    // The second overlaps the first, the third begins as the second ends, the fourth is alone.
    let requests = [(0, 10), (4, 20), (20, 25), (40, 45)];
    let expected =
        [(0, 4, 1), (4, 10, 2), (10, 20, 1), (20, 25, 1), (25, 40, 0), (40, 45, 1), (45, 50, 0)];
    assert_eq!(intervals(&requests, 50), expected);
}

#[test]
fn what_takes_no_time_is_in_flight_at_no_time() {
    assert_eq!(intervals(&[(0, 0), (5, 5)], 8), [(0, 5, 0), (5, 8, 0)]);
}

proptest! {
    #[test]
    fn stretches_cover_the_time_and_count_what_is_in_flight(
        requests in prop::collection::vec((0..50_u64, 0..200_u64), 1..60)
    ) {
        let mut submitted_ns = 0;
        let requests: Vec<(u64, u64)> = requests
            .into_iter()
            .map(|(after_ns, took_ns)| {
                submitted_ns += after_ns;
                (submitted_ns, submitted_ns + took_ns)
            })
            .collect();
        let end_ns = requests.iter().map(|(_, completed_ns)| *completed_ns).max().unwrap();
        let mut last_ns = 0;
        for (from_ns, to_ns, depth) in intervals(&requests, end_ns) {
            prop_assert_eq!(from_ns, last_ns);
            prop_assert!(to_ns > from_ns);
            let is_in_flight = |(one, other): &&(u64, u64)| *one <= from_ns && *other >= to_ns;
            prop_assert_eq!(depth, requests.iter().filter(is_in_flight).count() as u64);
            last_ns = to_ns;
        }
        prop_assert_eq!(last_ns, end_ns);
    }
}
