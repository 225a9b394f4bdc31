//! Detects open loads that the drive could not keep up with.

use std::time::Duration;

use crate::engine::OperationTally;

/// The share of the requested rate below which the drive did not keep up.
const KEPT_UP: f64 = 0.9;

/// The minimum number of operations to judge a rate.
const FEWEST: u64 = 10;

/// A caveat about a load at a rate that the drive could not sustain; `None` if it could, or if the
/// load was closed.
pub(super) fn remark(counted: &OperationTally, period_ns: Option<u64>) -> Option<String> {
    let period = Duration::from_nanos(period_ns?).as_secs_f64();
    let seconds = counted.took.as_secs_f64();
    let (asked, done) = (1.0 / period, counted.operations as f64 / seconds);
    (counted.operations >= FEWEST && done < KEPT_UP * asked).then(|| {
        format!(
            "{asked:.0} operations per second were due and {done:.0} were done: latencies count \
             from due times, so they grow with the length of the phase"
        )
    })
}

#[cfg(test)]
mod tests;
