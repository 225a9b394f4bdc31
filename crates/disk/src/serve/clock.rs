//! Defines the time of a served disk: nanoseconds since the start of serving.

use std::time::Instant;

use ssdlab_flash::Nanos;

/// A monotonic clock (`CLOCK_MONOTONIC`).
#[derive(Debug, Clone, Copy)]
pub struct MonotonicClock(Instant);

impl MonotonicClock {
    /// A clock that starts now.
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// The time since its start.
    pub fn now(self) -> Nanos {
        Nanos(u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }
}
