//! Defines the time of a disk that is served: nanoseconds since serving began.

use std::time::Instant;

use ssdlab_flash::Nanos;

/// A clock that nobody can set (`CLOCK_MONOTONIC`).
#[derive(Debug, Clone, Copy)]
pub struct Clock(Instant);

impl Clock {
    /// A clock that begins now.
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// The time since it began.
    pub fn now(self) -> Nanos {
        Nanos(u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }
}
