//! The way between host and drive: the controller takes commands one after another, and the link
//! carries so many bytes a second each way.

use crate::specification::Timing;
use crate::units::Nanos;

/// The link.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    read_rate: u64,
    write_rate: u64,
    reading_until: Nanos,
    writing_until: Nanos,
}

impl Link {
    pub fn new(timing: &Timing) -> Self {
        Self {
            read_rate: timing.link_read_rate,
            write_rate: timing.link_write_rate,
            reading_until: Nanos::ZERO,
            writing_until: Nanos::ZERO,
        }
    }

    /// Carries what the host writes. Returns when the drive has it.
    pub fn receive(&mut self, bytes: u64, earliest: Nanos) -> Nanos {
        self.writing_until = self.writing_until.max(earliest) + time(bytes, self.write_rate);
        self.writing_until
    }

    /// Carries what the host reads: bytes whose last page is there at `ready`, of a command that
    /// began at `begun`. Returns when the host has it.
    pub fn send(&mut self, bytes: u64, page_bytes: u64, begun: Nanos, ready: Nanos) -> Nanos {
        // Pages leave as they come, so only the last one is still to be carried then.
        self.reading_until = self.reading_until.max(begun) + time(bytes, self.read_rate);
        self.reading_until.max(ready + time(bytes.min(page_bytes), self.read_rate))
    }
}

/// What so many bytes take at so many a second.
fn time(bytes: u64, rate: u64) -> Nanos {
    let nanos = u128::from(bytes) * 1_000_000_000 / u128::from(rate);
    Nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}
