//! Waits until a device is idle: nothing in flight and no counter changing for a while. A sync
//! returns before the discards of the transaction it committed are done, and filesystems postpone
//! some by minutes; this remaining work is part of a phase's cost, so it is waited for and timed.
//! The pauses before and between it are not work: the wait says when they were.

use std::io;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::block::{self, CounterReading, Counters};

/// The polling interval of the counters: at first fixed, later a fraction of the elapsed time,
/// which is precise enough.
const POLL_INTERVAL: Duration = Duration::from_micros(500);
const PARTS: u32 = 2_000;

/// How a wait ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuietOutcome {
    /// The counters at the end.
    pub counters: Counters,
    /// The last moment at which something happened, as seen.
    pub last_activity: Instant,
    /// Whether anything happened at all.
    pub was_active: bool,
    /// Whether the device fell quiet before the timeout ended.
    pub is_quiet: bool,
    /// The pauses that were followed by activity.
    pub pauses: Vec<Pause>,
    /// The end of the wait.
    pub ended: Instant,
}

/// A time in which a device was idle for at least [`Wait::pause`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pause {
    /// The last moment of activity before it.
    pub begin: Instant,
    /// The last moment at which the device was seen idle.
    pub end: Instant,
    /// How long it lasted, some of it perhaps unseen.
    pub lasted: Duration,
}

/// The parameters of a wait.
#[derive(Debug, Clone, Copy)]
pub struct Wait {
    /// How long the device must be idle at the end.
    pub silence: Duration,
    /// How long no discard must have completed at the end.
    pub postponed: Duration,
    /// From how long on idle time between two activities is a pause.
    pub pause: Duration,
    /// The maximum wait.
    pub timeout: Duration,
    /// Whether a concurrent reader issues one request at a time, which does not count as activity.
    pub has_reader: bool,
}

/// What happened between two readings.
#[derive(Debug, Clone, Copy, Default)]
struct Change {
    /// Whether anything did, or is under way.
    is_active: bool,
    /// How long its requests took, if none is under way.
    took: Option<Duration>,
    /// Whether a discard was completed.
    discarded: bool,
}

impl Wait {
    fn change(
        &self,
        number: &str,
        before: &CounterReading,
        now: &CounterReading,
    ) -> io::Result<Change> {
        let counted = |reading: &CounterReading| {
            if self.has_reader {
                let counters = Counters { read_requests: 0, read_bytes: 0, ..reading.counters };
                (counters, reading.others_ms)
            } else {
                (reading.counters, reading.reads_ms.wrapping_add(reading.others_ms))
            }
        };
        let in_flight =
            if self.has_reader { block::writes_in_flight(number)? } else { now.in_flight };
        let ((earlier, earlier_ms), (later, later_ms)) = (counted(before), counted(now));
        let took = Duration::from_millis(later_ms.wrapping_sub(earlier_ms));
        Ok(Change {
            is_active: in_flight > 0 || later != earlier,
            took: (in_flight == 0).then_some(took),
            discarded: later.discard_requests != earlier.discard_requests,
        })
    }
}

/// What has been seen of a device so far.
#[derive(Debug)]
struct ObservedActivity {
    started: Instant,
    last_activity: Instant,
    last_discard: Instant,
    /// The last moment at which nothing had happened since.
    idle_until: Instant,
    pauses: Vec<Pause>,
}

impl ObservedActivity {
    fn new(started: Instant) -> Self {
        let [last_activity, last_discard, idle_until] = [started; 3];
        Self { started, last_activity, last_discard, idle_until, pauses: Vec::new() }
    }

    fn is_quiet(&self, now: Instant, how: &Wait) -> bool {
        now.duration_since(self.last_activity) >= how.silence
            && now.duration_since(self.last_discard) >= how.postponed
    }

    /// When to look again: in a pause, which may last for minutes, seldom enough, and otherwise by
    /// the time that has passed without pauses.
    fn interval(&self, now: Instant, how: &Wait) -> Duration {
        let longest = how.pause.min(how.silence);
        if now.duration_since(self.last_activity) >= how.pause {
            return longest;
        }
        let pauses: Duration = self.pauses.iter().map(|pause| pause.lasted).sum();
        let worked = now.duration_since(self.started).saturating_sub(pauses);
        POLL_INTERVAL.max(worked / PARTS).min(longest)
    }

    /// A reading found the device active. What ended a pause began since the last look, and took no
    /// longer than its requests together.
    fn active(&mut self, now: Instant, change: Change, how: &Wait) {
        let idle = self.idle_until.duration_since(self.last_activity);
        if idle >= how.pause {
            let unseen = now.duration_since(self.idle_until);
            let lasted = idle + unseen.saturating_sub(change.took.unwrap_or(unseen));
            let (begin, end) = (self.last_activity, self.idle_until);
            self.pauses.push(Pause { begin, end, lasted });
        }
        self.last_activity = now;
        if change.discarded {
            self.last_discard = now;
        }
    }
}

/// Waits until the device has been silent. `stop` ends the wait early.
pub fn wait(number: &str, how: Wait, stop: &dyn Fn() -> bool) -> io::Result<QuietOutcome> {
    let started = Instant::now();
    let mut seen = ObservedActivity::new(started);
    let mut last = block::read(number)?;
    loop {
        let now = Instant::now();
        // Activity shows in the next reading; that of the last one was before this moment.
        seen.idle_until = now;
        let is_quiet = seen.is_quiet(now, &how);
        if is_quiet || now.duration_since(started) >= how.timeout || stop() {
            let was_active = seen.last_activity > started;
            let ObservedActivity { last_activity, pauses, .. } = seen;
            return Ok(QuietOutcome {
                counters: last.counters,
                last_activity,
                was_active,
                is_quiet,
                pauses,
                ended: now,
            });
        }
        sleep(seen.interval(Instant::now(), &how));
        let reading = block::read(number)?;
        let change = how.change(number, &last, &reading)?;
        if change.is_active {
            seen.active(Instant::now(), change, &how);
        }
        last = reading;
    }
}

#[cfg(test)]
mod tests;
