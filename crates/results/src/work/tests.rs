use std::time::Duration;

use super::*;

#[test]
fn work_has_its_rates_and_keeps_every_latency() {
    let mut counted =
        OperationTally { bytes: 8000, took: Duration::from_secs(2), ..OperationTally::new() };
    for index in 1..=1000 {
        counted.count(Duration::from_millis(2 * index), Duration::from_micros(index));
    }
    let work = Work::of(&counted).unwrap();
    assert_eq!((work.ops_per_second, work.bytes_per_second), (500.0, Some(4000.0)));
    let packed = BASE64_STANDARD.decode(&work.latency.histogram).unwrap();
    let all: hdrhistogram::Histogram<u64> =
        hdrhistogram::serialization::Deserializer::new().deserialize(&mut &packed[..]).unwrap();
    assert_eq!(all.len(), 1000);
    assert_eq!(Work::of(&OperationTally::new()), None);
}
