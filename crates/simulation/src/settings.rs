//! What a simulation was run with, as it is printed beside what came of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_flash::{MILLION, Pattern, Preparation};

use super::job::{Job, Synthetic};

/// What a simulation was run with, but for the drive and the seed. Shares are of 1.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Settings {
    /// The state the drive was brought into first.
    pub condition: String,
    /// The share of the drive that conditioning and patterns used.
    pub fill: f64,
    /// Which pages were written or read: sequential, uniform, zipf or hotcold; none of a trace, and
    /// so is all that patterns have.
    pub pattern: Option<String>,
    /// Requests came to so many times the capacity.
    pub overwrites: Option<f64>,
    /// The same before counting began.
    pub warmup: Option<f64>,
    /// The size of a request.
    pub request_bytes: Option<u64>,
    /// The share of requests that read.
    pub reads: Option<f64>,
    /// The share of requests that discard.
    pub trim: Option<f64>,
    /// Of hotcold: the share of requests that go to hot pages.
    pub hot_writes: Option<f64>,
    /// Of hotcold: the share of the pages that is hot.
    pub hot_data: Option<f64>,
    /// Of zipf: the skew.
    pub skew: Option<f64>,
    /// Requests under way at once.
    pub queue_depth: Option<usize>,
}

impl Settings {
    pub(super) fn of_pattern(job: &Job<Synthetic>) -> Self {
        let Synthetic { workload, warm_up_ppm, overwrites_ppm, queue_depth } = job.source;
        let page_bytes = u64::from(job.drive.specification.page_bytes);
        let (hot_writes, hot_data, skew) = match workload.pattern {
            Pattern::Sequential | Pattern::Uniform => (None, None, None),
            Pattern::Zipf { skew_ppm } => (None, None, Some(skew_ppm)),
            Pattern::HotCold { requests_ppm, pages_ppm } => {
                (Some(requests_ppm), Some(pages_ppm), None)
            }
        };
        Self {
            pattern: Some(workload.pattern.name().to_owned()),
            overwrites: Some(of_one(overwrites_ppm)),
            warmup: Some(of_one(warm_up_ppm)),
            request_bytes: Some(u64::from(workload.request_pages) * page_bytes),
            reads: Some(of_one(workload.reads_ppm)),
            trim: Some(of_one(workload.trims_ppm)),
            hot_writes: hot_writes.map(of_one),
            hot_data: hot_data.map(of_one),
            skew: skew.map(of_one),
            queue_depth: Some(queue_depth),
            ..Self::of_job(job)
        }
    }

    /// Those of any job, and of a trace all.
    pub(super) fn of_job<S>(job: &Job<S>) -> Self {
        let Preparation { condition, fill_ppm, .. } = &job.drive;
        Self { condition: condition.to_string(), fill: of_one(*fill_ppm), ..Self::default() }
    }
}

fn of_one(ppm: impl Into<u64>) -> f64 {
    ppm.into() as f64 / f64::from(MILLION)
}
