//! Defines the plain description of a set of samples.
//!
//! A reader looks at it before believing any inference: how many samples there are, where they lie,
//! and how far they scatter. The median accompanies the mean because a few slow runs move the mean
//! and not the median.

use crate::error::assert_fraction;
use crate::moments::{count, mean, sd};
use crate::student;

/// Location and spread of samples, in the unit of the samples unless stated otherwise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// The number of samples, at least 1.
    pub n: usize,
    pub mean: f64,
    /// The middle sample, or the midpoint of the middle two.
    pub median: f64,
    /// The standard deviation with the divisor n - 1; absent for n < 2.
    pub sd: Option<f64>,
    /// The coefficient of variation, sd / |mean|, without unit; absent for n < 2 or a mean of 0.
    pub cv: Option<f64>,
    /// The smallest sample.
    pub min: f64,
    /// The largest sample.
    pub max: f64,
}

impl Summary {
    /// Describes `samples`, in any order and unit.
    ///
    /// `None` when there are no samples, or when one of them is not finite: no figure would then
    /// describe the rest.
    pub fn of(samples: &[f64]) -> Option<Self> {
        if !samples.iter().all(|sample| sample.is_finite()) {
            return None;
        }
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (min, max) = (*sorted.first()?, *sorted.last()?);

        let n = sorted.len();
        let mean = mean(samples);
        let sd = sd(samples);
        Some(Self {
            n,
            mean,
            median: f64::midpoint(sorted[(n - 1) / 2], sorted[n / 2]),
            sd,
            cv: sd.filter(|_| mean != 0.0).map(|sd| sd / mean.abs()),
            min,
            max,
        })
    }

    /// The t interval of the mean: mean ± t(n-1) · sd / √n.
    ///
    /// `None` for n < 2. It assumes that means of n samples are about normal, so one end may lie
    /// where no sample can, such as below 0.
    ///
    /// # Panics
    ///
    /// Unless `confidence` lies strictly between 0 and 1.
    pub fn interval(&self, confidence: f64) -> Option<Interval> {
        assert_fraction("the confidence", confidence);
        let standard_error = self.sd? / count(self.n).sqrt();
        let half = student::critical(1.0 - confidence, count(self.n - 1)) * standard_error;
        Some(Interval { lo: self.mean - half, hi: self.mean + half })
    }
}

/// A closed interval; `lo <= hi`.
///
/// Confidence intervals of a ratio are not symmetric about the estimate, so both ends are kept and
/// not a "plus or minus".
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
