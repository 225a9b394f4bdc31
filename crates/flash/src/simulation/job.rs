//! A simulation's input: a drive and its load.

use crate::{DriveWorkload, Preparation};

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
