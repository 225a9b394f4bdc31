//! Defines the checks of arguments and data that several functions share.
//!
//! They are in one place so that refusals read the same everywhere.

use crate::StatsError;

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
