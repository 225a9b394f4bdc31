//! What is simulated: a drive, and what is done to it.

use ssdlab_flash::{Preparation, Workload};

/// A drive, and what is done to it.
#[derive(Debug, Clone)]
pub struct Job<S> {
    /// The drive, and the state it is brought into first. Patterns use the same part of it as
    /// conditioning.
    pub drive: Preparation,
    /// What is done to it then.
    pub source: S,
}

/// Requests that are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Synthetic {
    /// The requests; their span is that of the preparation.
    pub workload: Workload,
    /// Requests come to so many times the capacity before counting begins, in millionths.
    pub warm_up_ppm: u64,
    /// Requests come to so many times the capacity while it is counted, in millionths.
    pub overwrites_ppm: u64,
    /// Requests under way at once.
    pub queue_depth: usize,
}
