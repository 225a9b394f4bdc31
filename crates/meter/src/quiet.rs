//! Waits until a device is idle: nothing in flight and no counter changing for a while. A sync
//! returns before the discards of the transaction it committed are done; this remaining work is
//! part of a phase's cost, so it is waited for and timed.

use std::io;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::block::{self, Counters, Reading};

/// The polling interval of the counters: at first fixed, later a fraction of the elapsed time,
/// which is precise enough.
const GLANCE: Duration = Duration::from_micros(500);
const PARTS: u32 = 2_000;

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settled {
    /// The counters at the end.
    pub counters: Counters,
    /// The last moment at which something happened, as seen.
    pub last_activity: Instant,
    /// Whether anything happened at all.
    pub was_active: bool,
    /// Whether the device fell quiet before the patience ended.
    pub is_quiet: bool,
}

/// The parameters of a wait.
#[derive(Debug, Clone, Copy)]
pub struct Wait {
    /// How long the device must be idle.
    pub silence: Duration,
    /// The maximum wait.
    pub patience: Duration,
    /// Whether a concurrent reader issues one request at a time, which does not count as activity.
    pub has_reader: bool,
}

impl Wait {
    /// Whether something happened between two readings, or is under way.
    fn is_active(&self, number: &str, before: &Reading, now: &Reading) -> io::Result<bool> {
        if !self.has_reader {
            return Ok(now.in_flight > 0 || now.counters != before.counters);
        }
        let apart_from_reads =
            |counters: Counters| Counters { read_requests: 0, read_bytes: 0, ..counters };
        Ok(block::writes_in_flight(number)? > 0
            || apart_from_reads(now.counters) != apart_from_reads(before.counters))
    }
}

/// Waits until the device has been silent. `stop` ends the wait early.
pub fn wait(number: &str, how: Wait, stop: &dyn Fn() -> bool) -> io::Result<Settled> {
    let Wait { silence, patience, .. } = how;
    let started = Instant::now();
    let mut last = block::read(number)?;
    let mut last_activity = started;
    loop {
        let now = Instant::now();
        let is_quiet = now.duration_since(last_activity) >= silence;
        if is_quiet || now.duration_since(started) >= patience || stop() {
            let was_active = last_activity > started;
            return Ok(Settled { counters: last.counters, last_activity, was_active, is_quiet });
        }
        sleep(GLANCE.max(started.elapsed() / PARTS).min(silence));
        let reading = block::read(number)?;
        if how.is_active(number, &last, &reading)? {
            last_activity = Instant::now();
        }
        last = reading;
    }
}
