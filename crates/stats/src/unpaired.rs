//! Defines the estimate of a ratio from two sets of measurements that have no pairs.
//!
//! Trials of two experiments share no block, so dividing one by the other would cancel nothing, and
//! their scatter may differ, as on different machines. Each side's logarithms are averaged
//! separately, and the ratio is that of the geometric means.

use crate::error::{assert_fraction, positive};
use crate::moments::rounding;
use crate::moments::{count, mean, sd};
use crate::{FEWEST_RUNS, Interval, StatsError, student};

/// The ratio of a treatment to its baseline, estimated from two independent samples on the
/// logarithmic scale.
///
/// Its interval and its test assume that each side's logarithms are independent draws from a normal
/// distribution with its own variance (Welch 1947, "The generalization of 'Student's' problem when
/// several different population variances are involved", Biometrika 34).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnpairedRatio {
    log: f64,
    /// Of the logarithm, with its degrees of freedom.
    standard_error: Option<(f64, f64)>,
    /// The share of the ways to divide all values into two such sides that part them at a value.
    parted: f64,
}

impl UnpairedRatio {
    /// Estimates from values of both sides, in any order and number, in the same unit.
    ///
    /// # Errors
    ///
    /// [`StatsError::Empty`] when a side has no values, and [`StatsError::NotPositive`] for the
    /// first value that is not a finite number above 0.
    pub fn of(treatment: &[f64], baseline: &[f64]) -> Result<Self, StatsError> {
        if treatment.is_empty() || baseline.is_empty() {
            return Err(StatsError::Empty);
        }
        let treatment = logs("treatment", treatment)?;
        let baseline = logs("baseline", baseline)?;
        Ok(Self {
            log: mean(&treatment) - mean(&baseline),
            standard_error: standard_error(&treatment, &baseline),
            parted: 2.0 / ways(treatment.len(), baseline.len()),
        })
    }

    /// The ratio of the geometric means: 1 is no difference, 1.1 is 10 % above the baseline.
    pub fn ratio(&self) -> f64 {
        self.log.exp()
    }

    /// Welch's t interval of the ratio.
    ///
    /// `None` when a side has one value. When neither side's values differ, a single point, or
    /// `None` if a side has fewer than [`FEWEST_RUNS`].
    ///
    /// # Panics
    ///
    /// Unless `confidence` lies strictly between 0 and 1.
    pub fn interval(&self, confidence: f64) -> Option<Interval> {
        assert_fraction("the confidence", confidence);
        let (error, freedom) = self.standard_error?;
        let half = student::critical(1.0 - confidence, freedom) * error;
        Some(Interval { lo: (self.log - half).exp(), hi: (self.log + half).exp() })
    }

    /// The two-sided p-value of "the true ratio is 1".
    ///
    /// `None` where there is no interval. When neither side's values differ, p is 1 if the ratio is
    /// 1 (within rounding), and that of the permutation test if it is not (Fisher 1935, "The design
    /// of experiments"), which assumes no distribution.
    pub fn p_differs(&self) -> Option<f64> {
        let (error, freedom) = self.standard_error?;
        let distance = self.log.abs();
        Some(if error > 0.0 {
            (2.0 * student::upper_tail(distance / error, freedom)).min(1.0)
        } else if distance <= rounding(self.log) {
            1.0
        } else {
            self.parted.min(1.0)
        })
    }
}

/// In how many ways values can be divided into two sides of these sizes: (n + m)! / (n! m!).
fn ways(n: usize, m: usize) -> f64 {
    (1..=n).map(|own| count(m + own) / count(own)).product()
}

fn logs(what: &'static str, values: &[f64]) -> Result<Vec<f64>, StatsError> {
    let log = |(index, value): (usize, &f64)| Ok(positive(what, index, *value)?.ln());
    values.iter().enumerate().map(log).collect()
}

/// The standard error of the difference of two means, and its degrees of freedom by the
/// approximation of Satterthwaite 1946 ("An approximate distribution of estimates of variance
/// components", Biometrics Bulletin 2); `None` if a side has one value, or few if all are equal.
fn standard_error(one: &[f64], other: &[f64]) -> Option<(f64, f64)> {
    let of_mean = |logs: &[f64]| {
        let sd = sd(logs)?;
        let sd = if sd <= rounding(mean(logs)) { 0.0 } else { sd };
        Some(sd * sd / count(logs.len()))
    };
    let (one_of, other_of) = (of_mean(one)?, of_mean(other)?);
    let squared = one_of + other_of;
    if squared == 0.0 && one.len().min(other.len()) < FEWEST_RUNS {
        return None;
    }
    let share = |of: f64, n: usize| (of / squared).powi(2) / count(n - 1);
    // Without any spread the degrees of freedom do not matter, but must be above 0.
    let freedom = if squared > 0.0 {
        1.0 / (share(one_of, one.len()) + share(other_of, other.len()))
    } else {
        1.0
    };
    Some((squared.sqrt(), freedom))
}
