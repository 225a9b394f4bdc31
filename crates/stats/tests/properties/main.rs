//! Checks what must hold for any data: symmetries of the definitions, and error rates as promised.

mod drift;
mod error_rates;
mod holm;
mod log_ratio;
mod runs;
mod unpaired;

use std::ops::Range;

use proptest::prelude::*;
use ssdlab_stats::Interval;

/// Treatment and baseline values of a number of pairs, over six orders of magnitude.
fn pairs(count: Range<usize>) -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    prop::collection::vec((value(), value()), count).prop_map(|pairs| pairs.into_iter().unzip())
}

/// A measured value, evenly spread on the logarithmic scale.
fn value() -> impl Strategy<Value = f64> {
    (-7.0..7.0).prop_map(f64::exp)
}

/// Whether two numbers agree to `digits` of their own size, or of 1 if that is larger.
fn agree(a: f64, b: f64, digits: i32) -> bool {
    (a - b).abs() <= 10.0_f64.powi(-digits) * a.abs().max(b.abs()).max(1.0)
}

/// Whether a value lies in an interval; both ends belong to it.
fn covers(interval: Interval, value: f64) -> bool {
    (interval.lo..=interval.hi).contains(&value)
}
