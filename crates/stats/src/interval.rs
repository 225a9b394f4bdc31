//! Defines a closed interval of real numbers.
//!
//! Confidence intervals of a ratio are not symmetric about the estimate, so both ends are kept
//! and not a "plus or minus".

/// A closed interval; `lo <= hi`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub lo: f64,
    /// The upper end.
    pub hi: f64,
}

impl From<Interval> for [f64; 2] {
    fn from(interval: Interval) -> Self {
        [interval.lo, interval.hi]
    }
}
