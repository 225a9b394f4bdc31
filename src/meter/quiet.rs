//! Waiting until a device is quiet: nothing in flight and no counter moving for a while.
//!
//! A sync returns before the discards of the transaction it committed are done; what a phase
//! leaves behind belongs to its cost, so it is waited for and timed.

use std::io;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::block::{self, Counters};

/// How often the counters are looked at: at first, and later every so many parts of the time that
/// has passed, which is as precise as anybody can use it.
const GLANCE: Duration = Duration::from_micros(500);
const PARTS: u32 = 2_000;

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settled {
    /// The counters at the end.
    pub counters: Counters,
    /// The last moment at which something happened, as seen.
    pub last_activity: Instant,
    /// Whether the device fell quiet before the patience ended.
    pub is_quiet: bool,
}

/// Waits until the device has been silent for `silence`, at most for `patience`. `stop` ends
/// the wait early.
pub fn wait(
    number: &str,
    silence: Duration,
    patience: Duration,
    stop: &dyn Fn() -> bool,
) -> io::Result<Settled> {
    let started = Instant::now();
    let mut last = block::read(number)?;
    let mut last_activity = started;
    loop {
        let now = Instant::now();
        let is_quiet = now.duration_since(last_activity) >= silence;
        if is_quiet || now.duration_since(started) >= patience || stop() {
            return Ok(Settled { counters: last.counters, last_activity, is_quiet });
        }
        sleep(GLANCE.max(started.elapsed() / PARTS).min(silence));
        let reading = block::read(number)?;
        if reading.in_flight > 0 || reading.counters != last.counters {
            last_activity = Instant::now();
        }
        last = reading;
    }
}
