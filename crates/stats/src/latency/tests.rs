use super::*;

#[test]
fn percentiles_are_of_as_many_values() {
    let mut latencies = Histogram::new(3).unwrap();
    assert_eq!(LatencySummary::of(&latencies), None);
    (1..=1000).for_each(|value| latencies.record(value).unwrap());
    let LatencySummary { mean_ns, p50_ns, p90_ns, p99_ns, p999_ns, max_ns } =
        LatencySummary::of(&latencies).unwrap();
    assert_eq!([p50_ns, p90_ns, p99_ns, p999_ns, max_ns], [500, 900, 990, 999, 1000]);
    assert!((mean_ns - 500.5).abs() < 1e-9);
}
