//! A simulation's input, a drive and its load, and the settings that are printed with its outcome.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{DriveWorkload, MILLION, Pattern, Preparation};

/// The settings of a simulation except the drive and the seed. Shares are fractions of 1.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Settings {
    /// The state the drive was conditioned to first.
    pub condition: String,
    /// The share of the drive used by conditioning and patterns.
    pub fill: f64,
    /// The access pattern: sequential, uniform, zipf or hotcold; absent for a trace, like all
    /// further settings.
    pub pattern: Option<String>,
    /// The volume of requests, in multiples of the capacity.
    pub overwrites: Option<f64>,
    /// The same before counting started.
    pub warmup: Option<f64>,
    /// The size of a request.
    pub request_bytes: Option<u64>,
    /// The share of requests that read.
    pub reads: Option<f64>,
    /// The share of requests that discard.
    pub trim: Option<f64>,
    /// For hotcold: the share of requests to hot pages.
    pub hot_writes: Option<f64>,
    /// For hotcold: the share of pages that are hot.
    pub hot_data: Option<f64>,
    /// For zipf: the skew.
    pub skew: Option<f64>,
    /// Requests in flight.
    pub queue_depth: Option<usize>,
}

impl Settings {
    pub(super) fn of_pattern(job: &SimulationJob<Synthetic>) -> Self {
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

    /// The settings common to all jobs.
    pub(super) fn of_job<S>(job: &SimulationJob<S>) -> Self {
        let Preparation { condition, fill_ppm, .. } = &job.drive;
        Self { condition: condition.to_string(), fill: of_one(*fill_ppm), ..Self::default() }
    }
}

fn of_one(ppm: impl Into<u64>) -> f64 {
    ppm.into() as f64 / f64::from(MILLION)
}

/// A drive and its load.
#[derive(Debug, Clone)]
pub struct SimulationJob<S> {
    /// The drive, and the state it is conditioned to first. Patterns use the same part of it as
    /// conditioning.
    pub drive: Preparation,
    /// The load.
    pub source: S,
}

/// Generated requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Synthetic {
    /// The requests; their span is that of the preparation.
    pub workload: DriveWorkload,
    /// The volume of requests before counting starts, in millionths of the capacity.
    pub warm_up_ppm: u64,
    /// The volume of counted requests, in millionths of the capacity.
    pub overwrites_ppm: u64,
    /// Requests in flight.
    pub queue_depth: usize,
}
