//! What a phase that counts its own operations did: how many, how fast, and how long each took.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_engine::Counted;

/// The operations of a phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Work {
    /// Operations.
    pub operations: u64,
    /// Operations a second, by the phase's own clock.
    pub ops_per_second: f64,
    /// Bytes read or written a second, by the same clock; absent where none are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_second: Option<f64>,
    /// How long each operation took.
    pub latency: Latency,
    /// When the operations ended.
    pub series: Series,
}

/// How long operations took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// The mean, in ns.
    pub mean_ns: f64,
    /// The median, in ns.
    pub p50_ns: u64,
    /// What one in ten exceeded, in ns.
    pub p90_ns: u64,
    /// What one in a hundred exceeded, in ns.
    pub p99_ns: u64,
    /// What one in a thousand exceeded, in ns.
    pub p999_ns: u64,
    /// The longest, in ns.
    pub max_ns: u64,
    /// All of them: an `HdrHistogram` in its format V2, compressed, in base64.
    pub histogram: String,
}

/// Operations over the time of a phase.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// The length of a step, in ns.
    pub step_ns: u64,
    /// Operations that ended in each.
    pub operations: Vec<u64>,
}

impl Work {
    /// The operations that were counted; none where nothing was done or no time went by.
    #[must_use]
    pub fn of(counted: &Counted) -> Option<Self> {
        let seconds = counted.took.as_secs_f64();
        if counted.operations == 0 || seconds <= 0.0 {
            return None;
        }
        let all = &counted.latencies;
        let of = |quantile: f64| all.value_at_quantile(quantile);
        let mut packed = Vec::new();
        V2DeflateSerializer::new().serialize(all, &mut packed).expect("a Vec takes everything");
        Some(Self {
            operations: counted.operations,
            ops_per_second: counted.operations as f64 / seconds,
            bytes_per_second: (counted.bytes > 0).then(|| counted.bytes as f64 / seconds),
            latency: Latency {
                mean_ns: all.mean(),
                p50_ns: of(0.5),
                p90_ns: of(0.9),
                p99_ns: of(0.99),
                p999_ns: of(0.999),
                max_ns: all.max(),
                histogram: BASE64_STANDARD.encode(packed),
            },
            series: Series {
                step_ns: counted.series.step_ns,
                operations: counted.series.operations.clone(),
            },
        })
    }

    /// A metric by its name in plans; `None` if it is none of these.
    #[must_use]
    pub fn metric(&self, name: &str) -> Option<f64> {
        Some(match name {
            "operations" => self.operations as f64,
            "ops_per_second" => self.ops_per_second,
            "bytes_per_second" => return self.bytes_per_second,
            "latency.mean_ns" => self.latency.mean_ns,
            "latency.p50_ns" => self.latency.p50_ns as f64,
            "latency.p90_ns" => self.latency.p90_ns as f64,
            "latency.p99_ns" => self.latency.p99_ns as f64,
            "latency.p999_ns" => self.latency.p999_ns as f64,
            "latency.max_ns" => self.latency.max_ns as f64,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::plan::metric::WORK_METRICS;

    #[test]
    fn work_has_every_metric_and_keeps_every_latency() {
        let mut counted = Counted { bytes: 8000, took: Duration::from_secs(2), ..Counted::new() };
        for index in 1..=1000 {
            counted.count(Duration::from_millis(2 * index), Duration::from_micros(index));
        }
        let work = Work::of(&counted).unwrap();
        for (name, _) in WORK_METRICS {
            assert!(work.metric(name).is_some(), "{name}");
        }
        assert_eq!(work.metric("ops_per_second"), Some(500.0));
        assert_eq!(work.metric("bytes_per_second"), Some(4000.0));
        let packed = BASE64_STANDARD.decode(&work.latency.histogram).unwrap();
        let all: hdrhistogram::Histogram<u64> =
            hdrhistogram::serialization::Deserializer::new().deserialize(&mut &packed[..]).unwrap();
        assert_eq!(all.len(), 1000);
        assert_eq!(Work::of(&Counted::new()), None);
    }
}
