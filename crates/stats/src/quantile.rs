//! Defines the exact interval of a quantile.

use statrs::distribution::{Binomial, DiscreteCDF};

use super::error::assert_fraction;
use super::summary::Interval;

/// The interval of the value that a `share` of a population does not exceed, from values in
/// ascending order: its ends are two of these values, whatever their distribution (W. R. Thompson,
/// "On confidence ranges for the median and other expectation distributions for populations of
/// unknown distribution form", Annals of Mathematical Statistics 7, 1936). An end is infinite if
/// there are too few values to bound it.
///
/// # Panics
///
/// If `share` or `confidence` is not strictly between 0 and 1.
pub fn quantile_interval(sorted: &[f64], share: f64, confidence: f64) -> Interval {
    assert_fraction("share", share);
    assert_fraction("confidence", confidence);
    let outside = (1.0 - confidence) / 2.0;
    let below = Binomial::new(share, sorted.len() as u64).expect("the share is a probability");
    // The number of values below the quantile is binomial: the lower end misses if fewer values
    // than its rank lie below the quantile, the upper end if at least as many as its rank do.
    let lo = first(sorted.len(), |count| below.cdf(count) > outside);
    let hi = first(sorted.len(), |count| below.sf(count) <= outside);
    Interval {
        lo: lo.checked_sub(1).map_or(f64::NEG_INFINITY, |lo| sorted[lo]),
        hi: sorted.get(hi).copied().unwrap_or(f64::INFINITY),
    }
}

/// The first number from which on a condition is true; `end` if it is false for all before that.
fn first(end: usize, is_so: impl Fn(u64) -> bool) -> usize {
    let (mut from, mut end) = (0, end);
    while from < end {
        let middle = usize::midpoint(from, end);
        if is_so(middle as u64) {
            end = middle;
        } else {
            from = middle + 1;
        }
    }
    from
}

#[cfg(test)]
mod tests;
