//! Open loads that the drive could not keep up with.

use std::time::Duration;

use ssdlab_engine::Counted;

/// The share of the asked rate below which a load was not kept up with.
const KEPT_UP: f64 = 0.9;

/// Fewer operations than this say nothing about a rate.
const FEWEST: u64 = 10;

/// What a reader must know of a load whose operations were due at a rate that the drive could not
/// serve; nothing where it could, or where nothing was ever due.
pub(super) fn remark(counted: &Counted, period_ns: Option<u64>) -> Option<String> {
    let period = Duration::from_nanos(period_ns?).as_secs_f64();
    let seconds = counted.took.as_secs_f64();
    let (asked, done) = (1.0 / period, counted.operations as f64 / seconds);
    (counted.operations >= FEWEST && done < KEPT_UP * asked).then(|| {
        format!(
            "{asked:.0} operations a second were due and {done:.0} were done: latencies count from \
             when each was due, so they grow with the length of the phase"
        )
    })
}

#[cfg(test)]
mod tests;
