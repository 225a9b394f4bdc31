use super::*;

#[test]
fn every_operation_is_in_the_histogram_and_in_the_series() {
    let mut counted = OperationTally::new();
    for index in 0..1000_u64 {
        counted.count(Duration::from_millis(index * 7), Duration::from_micros(index));
    }
    assert_eq!(counted.operations, 1000);
    assert_eq!(counted.latencies.len(), 1000);
    assert_eq!(counted.series.operations.iter().sum::<u64>(), 1000);
    assert!(counted.series.operations.len() <= MOST_STEPS);
    // Seven seconds in at most 256 steps.
    assert_eq!(counted.series.step_ns, 40_000_000);
    let p50 = counted.latencies.value_at_quantile(0.5);
    assert!((499_000..=500_500).contains(&p50), "{p50}");
}

#[test]
fn what_is_added_is_counted_step_by_step() {
    let (mut short, mut long) = (OperationTally::new(), OperationTally::new());
    short.count(Duration::from_millis(5), Duration::from_micros(1));
    long.count(Duration::from_millis(5), Duration::from_micros(2));
    long.count(Duration::from_secs(5), Duration::from_micros(3));
    for (mut all, other) in [(short.clone(), &long), (long.clone(), &short)] {
        all.add(other);
        assert_eq!((all.operations, all.latencies.len()), (3, 3));
        assert_eq!(all.series.step_ns, 20_000_000);
        assert_eq!((all.series.operations[0], all.series.operations[250]), (2, 1));
    }
}

#[test]
fn a_latency_beyond_all_measure_is_counted_as_the_longest() {
    let mut counted = OperationTally::new();
    counted.count(Duration::MAX.min(Duration::from_hours(2)), Duration::from_hours(2));
    assert!(counted.latencies.max() >= LONGEST_NS);
}
