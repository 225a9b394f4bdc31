//! The way between host and drive: the controller accepts commands one after another, and the link
//! has a bandwidth in each direction.

use crate::specification::Timing;
use crate::units::Nanos;

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

    /// Carries the pages that the host writes, one after another.
    pub fn receive(&mut self, bytes: u64, pages: u32, earliest: Nanos) -> Arrival {
        let takes = time(bytes, self.write_rate);
        let each = Nanos(takes.0 / u64::from(pages.max(1)));
        self.writing_until = self.writing_until.max(earliest) + takes;
        Arrival { last: self.writing_until, each, left: pages }
    }

    /// Carries the bytes that the host reads, of which the last page is available at `ready`, for a
    /// command that began at `begun`. Returns when the host has them.
    pub fn send(&mut self, bytes: u64, page_bytes: u64, begun: Nanos, ready: Nanos) -> Nanos {
        // Pages leave as they become available, so only the last one remains to be carried then.
        self.reading_until = self.reading_until.max(begun) + time(bytes, self.read_rate);
        self.reading_until.max(ready + time(bytes.min(page_bytes), self.read_rate))
    }
}

/// When the pages of a write arrive.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrival {
    /// When the last arrives.
    pub last: Nanos,
    /// The time from one page to the next.
    each: Nanos,
    left: u32,
}

impl Arrival {
    /// All at once.
    pub const fn at(time: Nanos) -> Self {
        Self { last: time, each: Nanos::ZERO, left: 0 }
    }

    /// When the next page arrives.
    pub fn next(&mut self) -> Nanos {
        self.left = self.left.saturating_sub(1);
        self.last.since(Nanos(self.each.0.saturating_mul(self.left.into())))
    }
}

/// The time to transfer bytes at a rate per second.
fn time(bytes: u64, rate: u64) -> Nanos {
    let nanos = u128::from(bytes) * 1_000_000_000 / u128::from(rate);
    Nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}
