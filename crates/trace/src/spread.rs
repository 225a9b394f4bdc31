//! Defines how values spread, in memory that does not grow with their number.

use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::Serialize;

/// How sizes or distances spread, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Spread {
    /// The least.
    pub least_bytes: u64,
    /// Half are at most so large; exact for multiples of 512 bytes below 1 MiB, to three digits
    /// elsewhere.
    pub median_bytes: u64,
    /// The mean.
    pub mean_bytes: f64,
    /// The greatest.
    pub most_bytes: u64,
}

/// What requests took, to three digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Latencies {
    /// Half took at most so long.
    pub p50_ns: u64,
    /// 90 % took at most so long.
    pub p90_ns: u64,
    /// 99 % took at most so long.
    pub p99_ns: u64,
    /// 99.9 % took at most so long.
    pub p999_ns: u64,
    /// The longest.
    pub max_ns: u64,
}

/// Values as they come.
#[derive(Debug)]
pub struct Values {
    histogram: Histogram<u64>,
    least: u64,
    most: u64,
    sum: u128,
}

impl Values {
    pub fn new() -> Self {
        // Three digits are kept; the range grows as it has to.
        let histogram = Histogram::new(3).expect("3 digits are in its range");
        Self { histogram, least: u64::MAX, most: 0, sum: 0 }
    }

    pub fn add(&mut self, value: u64) {
        self.histogram.record(value).expect("the histogram grows as it has to");
        self.least = self.least.min(value);
        self.most = self.most.max(value);
        self.sum += u128::from(value);
    }

    /// How they spread, if there are any.
    pub fn spread(&self) -> Option<Spread> {
        let median = self.histogram.value_at_quantile(0.5);
        (!self.histogram.is_empty()).then(|| Spread {
            least_bytes: self.least,
            // What stands for a bin is its least value, which is the round one.
            median_bytes: self.histogram.lowest_equivalent(median).clamp(self.least, self.most),
            mean_bytes: self.sum as f64 / self.histogram.len() as f64,
            most_bytes: self.most,
        })
    }

    /// Their percentiles, if there are any.
    pub fn latencies(&self) -> Option<Latencies> {
        let at = |quantile| self.histogram.value_at_quantile(quantile).min(self.most);
        (!self.histogram.is_empty()).then(|| Latencies {
            p50_ns: at(0.5),
            p90_ns: at(0.9),
            p99_ns: at(0.99),
            p999_ns: at(0.999),
            max_ns: self.most,
        })
    }
}

#[cfg(test)]
mod tests {
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
    fn percentiles_are_of_as_many_values() {
        let latencies = values(1..=1000).latencies().unwrap();
        let Latencies { p50_ns, p90_ns, p99_ns, p999_ns, max_ns } = latencies;
        assert_eq!([p50_ns, p90_ns, p99_ns, p999_ns, max_ns], [500, 900, 990, 999, 1000]);
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
}
