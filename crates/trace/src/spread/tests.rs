use super::*;

fn values(values: impl IntoIterator<Item = u64>) -> Values {
    let mut all = Values::new();
    values.into_iter().for_each(|value| all.add(value));
    all
}

#[test]
fn sizes_of_whole_sectors_are_exact() {
    for sectors in [1, 3, 8, 25, 1024, 2047] {
        let bytes = sectors * 512;
        let spread = values([512, bytes, bytes, bytes, 1 << 30]).spread().unwrap();
        assert_eq!((spread.least_bytes, spread.most_bytes), (512, 1 << 30));
        assert_eq!(spread.median_bytes, bytes);
    }
}

#[test]
fn a_latency_beyond_three_digits_is_the_longest_exactly() {
    let latencies = values([1_000_001, 2_000_002]).latencies().unwrap();
    assert_eq!((latencies.p999_ns, latencies.max_ns), (2_000_002, 2_000_002));
    assert!((latencies.mean_ns - 1_500_001.5).abs() < 1e-9);
}

#[test]
fn any_value_has_a_place() {
    let all = values([0, u64::MAX, u64::MAX, u64::MAX]);
    assert_eq!(all.latencies().unwrap().max_ns, u64::MAX);
    let spread = all.spread().unwrap();
    assert_eq!((spread.least_bytes, spread.most_bytes), (0, u64::MAX));
    assert!(spread.median_bytes > u64::MAX / 1000 * 999, "{spread:?}");
    assert!(values([]).spread().is_none() && values([]).latencies().is_none());
}
