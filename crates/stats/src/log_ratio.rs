//! Defines the estimate of a ratio from pairs of measurements.
//!
//! Durations and rates scatter by factors, not by amounts, so each pair gives the logarithm of
//! its ratio and the estimate is the mean of those: the geometric mean ratio. It has the symmetry
//! an arithmetic mean of ratios lacks: exchanging treatment and baseline inverts it.

use crate::error::{assert_fraction, positive};
use crate::moments::rounding;
use crate::moments::{count, mean, sd};
use crate::{Interval, StatsError, student};

/// The fewest runs that anything is concluded from. Below six no test is wrong in at most 5 % of
/// cases whatever the distribution: n runs on one side of a bound have a two-sided p-value of
/// 2^(1-n) (the sign test: Arbuthnott 1710, "An argument for divine providence", Philosophical
/// Transactions 27), 6.25 % for five.
pub const FEWEST_RUNS: usize = 6;

/// The ratio of a treatment to its baseline, estimated from pairs on the logarithmic scale.
///
/// Its intervals and tests assume that the log-ratios of the pairs are independent draws from one
/// normal distribution (the paired t method: Student 1908, "The probable error of a mean",
/// Biometrika 6), except for [`LogRatio::bca`], which drops the assumption of normality.
#[derive(Debug, Clone, PartialEq)]
pub struct LogRatio {
    pub(crate) logs: Vec<f64>,
    mean: f64,
    sd: Option<f64>,
}

impl LogRatio {
    /// Estimates from `treatment[i] / baseline[i]`, one pair per block.
    ///
    /// Both sides are in the same unit, which cancels.
    ///
    /// # Errors
    ///
    /// [`StatsError::Lengths`] when the sides differ in length, [`StatsError::Empty`] when there
    /// are no pairs, and [`StatsError::NotPositive`] for the first value that is not a finite
    /// number above 0.
    pub fn paired(treatment: &[f64], baseline: &[f64]) -> Result<Self, StatsError> {
        if treatment.len() != baseline.len() {
            return Err(StatsError::Lengths {
                treatment: treatment.len(),
                baseline: baseline.len(),
            });
        }
        if treatment.is_empty() {
            return Err(StatsError::Empty);
        }
        let logs = treatment
            .iter()
            .zip(baseline)
            .enumerate()
            .map(|(index, (&treatment, &baseline))| {
                let treatment = positive("treatment", index, treatment)?;
                let baseline = positive("baseline", index, baseline)?;
                Ok(log_quotient(treatment, baseline))
            })
            .collect::<Result<Vec<_>, _>>()?;

        let mean = mean(&logs);
        let sd = sd(&logs).map(|sd| if sd <= rounding(mean) { 0.0 } else { sd });
        Ok(Self { logs, mean, sd })
    }

    /// The number of pairs, at least 1.
    pub fn n(&self) -> usize {
        self.logs.len()
    }

    /// The mean of the natural logarithms of the pairs' ratios.
    pub fn mean_log(&self) -> f64 {
        self.mean
    }

    /// The standard deviation (divisor n - 1) of the natural logarithms; absent for n < 2.
    ///
    /// It is exactly 0 when the pairs differ by no more than floating-point rounding.
    pub fn sd_log(&self) -> Option<f64> {
        self.sd
    }

    /// The geometric mean of the pairs' ratios: 1 is no effect, 1.1 is 10 % above the baseline.
    pub fn ratio(&self) -> f64 {
        self.mean.exp()
    }

    /// The t interval of the ratio: exp(mean ± t(n-1) · sd / √n) of the logarithms.
    ///
    /// `None` for n < 2, and for fewer than [`FEWEST_RUNS`] pairs if all are identical: Student's t
    /// mistakes no spread for certainty. A single point if more are.
    ///
    /// # Panics
    ///
    /// Unless `confidence` lies strictly between 0 and 1.
    pub fn interval(&self, confidence: f64) -> Option<Interval> {
        let half = self.log_half_width(confidence)?;
        Some(Interval { lo: (self.mean - half).exp(), hi: (self.mean + half).exp() })
    }

    /// How far the t interval reaches above the ratio, relative to the ratio: 0.05 is 5 %.
    ///
    /// This is exp(h) - 1 with h the half width on the logarithmic scale, so it measures precision
    /// independently of the ratio itself. `None` where there is no interval.
    ///
    /// # Panics
    ///
    /// Unless `confidence` lies strictly between 0 and 1.
    pub fn relative_half_width(&self, confidence: f64) -> Option<f64> {
        self.log_half_width(confidence).map(f64::exp_m1)
    }

    /// The standard error of the mean logarithm; absent for n < 2, and for few equal pairs.
    pub(crate) fn standard_error(&self) -> Option<f64> {
        let is_estimate = |sd: &f64| *sd > 0.0 || self.n() >= FEWEST_RUNS;
        self.sd.filter(is_estimate).map(|sd| sd / count(self.n()).sqrt())
    }

    fn log_half_width(&self, confidence: f64) -> Option<f64> {
        assert_fraction("the confidence", confidence);
        let standard_error = self.standard_error()?;
        Some(student::critical(1.0 - confidence, count(self.n() - 1)) * standard_error)
    }
}

/// The natural logarithm of `dividend / divisor`.
fn log_quotient(dividend: f64, divisor: f64) -> f64 {
    let quotient = dividend / divisor;
    // The quotient comes first because it is exact for values in exact proportion; only one that
    // leaves the range of f64 forces the difference of logarithms, with its larger rounding.
    if quotient.is_normal() { quotient.ln() } else { dividend.ln() - divisor.ln() }
}
