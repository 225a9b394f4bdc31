//! Defines why data cannot be analysed, and the checks of arguments.
//!
//! Ratios are analysed as logarithms, which exist only for pairs of positive numbers. A measurement
//! that is not positive is broken, so the error names it and nothing skips it: leaving out
//! inconvenient values biases the result.

use thiserror::Error;

/// Why data cannot be analysed.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum StatsError {
    /// The two sides of a pairing differ in length, so some values have no partner.
    #[error("{treatment} treatment values cannot be paired with {baseline} baseline values")]
    Lengths {
        /// The number of treatment values.
        treatment: usize,
        /// The number of baseline values.
        baseline: usize,
    },
    /// There are no pairs.
    #[error("there are no pairs to compare")]
    Empty,
    /// A value is not a finite number above 0.
    #[error("{what} value {index} is {value}, which is not a finite number above 0")]
    NotPositive {
        /// Which of the inputs holds the value: `treatment`, `baseline` or `trial`.
        what: &'static str,
        /// The value's place in that input, counted from 0.
        index: usize,
        value: f64,
    },
}

/// The value itself, if it has a logarithm.
pub fn positive(what: &'static str, index: usize, value: f64) -> Result<f64, StatsError> {
    if value.is_finite() && value > 0.0 {
        Ok(value)
    } else {
        Err(StatsError::NotPositive { what, index, value })
    }
}

/// Panics unless `value` is a probability strictly between 0 and 1.
pub fn assert_fraction(name: &str, value: f64) {
    assert!(value > 0.0 && value < 1.0, "{name} must lie strictly between 0 and 1, but is {value}");
}

/// Panics unless `value` is a finite number above 0.
pub fn assert_positive(name: &str, value: f64) {
    assert!(
        value.is_finite() && value > 0.0,
        "{name} must be a finite number above 0, but is {value}"
    );
}
