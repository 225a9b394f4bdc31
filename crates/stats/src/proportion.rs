//! Defines the exact interval of a proportion.

use statrs::distribution::{Beta, ContinuousCDF};

use super::error::assert_fraction;
use super::summary::Interval;

/// The interval of a proportion that was observed in `count` of `number` cases (C. J. Clopper and
/// E. S. Pearson, "The use of confidence or fiducial limits illustrated in the case of the
/// binomial", Biometrika 26, 1934). Its coverage is at least `confidence` for every true
/// proportion. `None` if `number` is 0.
///
/// # Panics
///
/// If `confidence` is not strictly between 0 and 1, or `count` above `number`.
pub fn clopper_pearson(count: u64, number: u64, confidence: f64) -> Option<Interval> {
    assert_fraction("confidence", confidence);
    assert!(count <= number, "{count} of {number} is no proportion");
    if number == 0 {
        return None;
    }
    let outside = (1.0 - confidence) / 2.0;
    let quantile = |a: u64, b: u64, probability: f64| {
        let beta = Beta::new(a as f64, b as f64).expect("both parameters are at least 1");
        beta.inverse_cdf(probability)
    };
    // If one end is certain, the other has a closed form.
    let lo = match count {
        0 => 0.0,
        all if all == number => outside.powf(1.0 / number as f64),
        _ => quantile(count, number - count + 1, outside),
    };
    let hi = match count {
        0 => 1.0 - outside.powf(1.0 / number as f64),
        all if all == number => 1.0,
        _ => quantile(count + 1, number - count, 1.0 - outside),
    };
    Some(Interval { lo, hi })
}

#[cfg(test)]
mod tests;
