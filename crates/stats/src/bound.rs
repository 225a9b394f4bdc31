//! Defines the tests of a ratio against a bound.
//!
//! "Is it faster?" is answered by any difference, however small; "is it at least 5 % faster?" is
//! a claim with a bound, and each direction of it is a one-sided t test on the logarithmic scale.

use crate::LogRatio;
use crate::error::assert_positive;
use crate::moments::count;
use crate::moments::rounding;
use crate::student::upper_tail;

impl LogRatio {
    /// The p-value for the claim that the true ratio is above `bound`.
    ///
    /// It is the probability, if the true ratio were exactly `bound`, of an estimate at least as
    /// far above it: a small p rejects "the true ratio is `bound` or less". One-sided one-sample t
    /// test of the log-ratios against ln(`bound`), with n - 1 degrees of freedom (Student 1908).
    ///
    /// `None` where there is no [`LogRatio::interval`]. When all pairs are identical, Student's t
    /// would be certain; the sign test, which assumes no distribution, has p = 2^-n if they are
    /// above the bound, and its complement if below; p is 0.5 if they equal it (within rounding).
    ///
    /// # Panics
    ///
    /// Unless `bound` is a finite number above 0.
    pub fn p_above(&self, bound: f64) -> Option<f64> {
        self.standardised(bound).map(|t| self.tail(t))
    }

    /// The p-value for the claim that the true ratio is below `bound`.
    ///
    /// The mirror image of [`LogRatio::p_above`]: the two add up to 1.
    ///
    /// # Panics
    ///
    /// Unless `bound` is a finite number above 0.
    pub fn p_below(&self, bound: f64) -> Option<f64> {
        self.standardised(bound).map(|t| self.tail(-t))
    }

    /// The two-sided p-value of "the true ratio is 1"; `None` where there is no interval.
    pub fn p_differs(&self) -> Option<f64> {
        let (above, below) = self.p_above(1.0).zip(self.p_below(1.0))?;
        Some((2.0 * above.min(below)).min(1.0))
    }

    /// The p-value of an estimate that lies so many standard errors above a bound.
    fn tail(&self, distance: f64) -> f64 {
        if distance.is_finite() {
            return upper_tail(distance, count(self.n() - 1));
        }
        let all_above = p_of_signs(self.n(), self.n());
        if distance > 0.0 { all_above } else { 1.0 - all_above }
    }

    /// The distance from the bound to the estimate in standard errors, infinite without spread.
    fn standardised(&self, bound: f64) -> Option<f64> {
        assert_positive("the bound", bound);
        let standard_error = self.standard_error()?;
        let distance = self.mean_log() - bound.ln();
        Some(if standard_error > 0.0 {
            distance / standard_error
        } else if distance.abs() <= rounding(self.mean_log()) {
            0.0
        } else {
            distance.signum() * f64::INFINITY
        })
    }
}

/// The one-sided p-value of `agree` of `of` observations in one direction: the probability of at
/// least so many if both directions were equally likely (Arbuthnott 1710, "An argument for divine
/// providence", Philosophical Transactions 27). 1 for none.
///
/// It needs only the direction of each observation, so it also judges pairs that have no ratio
/// because one side is 0.
pub fn p_of_signs(agree: usize, of: usize) -> f64 {
    // The binomial probabilities from `of` downwards, each from the one before.
    let mut probability = 0.5_f64.powf(count(of));
    let mut sum = 0.0;
    for successes in (agree..=of).rev() {
        sum += probability;
        probability *= count(successes) / count(of - successes + 1);
    }
    sum.clamp(0.0, 1.0)
}
