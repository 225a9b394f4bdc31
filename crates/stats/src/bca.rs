//! Defines the bootstrap interval of a ratio.
//!
//! The t interval assumes normal log-ratios; this one resamples the data instead. Where the two
//! disagree, normality was a poor assumption. It is a check, not the interval to report, because
//! with few pairs it is too narrow: in simulated normal experiments of 5, 10 and 30 pairs, a
//! nominal 95 % interval covered the truth in 84, 89 and 92 %.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use statrs::distribution::{ContinuousCDF, Normal};

use crate::error::assert_fraction;
use crate::moments::{count, deviations, sum_of_squares};
use crate::{Interval, LogRatio};

/// The fewest resamples that an interval is taken from.
///
/// Efron & Tibshirani 1993 ("An Introduction to the Bootstrap", section 14.3) ask for about 1000
/// or more at a confidence of 0.9 or 0.95; a higher confidence needs more, as it reads rarer
/// resamples.
pub const FEWEST_RESAMPLES: usize = 999;

impl LogRatio {
    /// The bias-corrected and accelerated (`BCa`) bootstrap interval of the ratio.
    ///
    /// Efron 1987, "Better bootstrap confidence intervals", Journal of the American Statistical
    /// Association 82; formulas 14.9 to 14.15 of Efron & Tibshirani 1993. The statistic is the
    /// mean log-ratio; the interval's ends are exponentiated. Its acceleration is the jackknife's,
    /// and a resample that ties with the estimate counts as half below it.
    ///
    /// `None` for n < 3. When all pairs are identical, every resample gives the same ratio: as of
    /// [`LogRatio::interval`], a single point, or `None` if they are few.
    ///
    /// Estimates with the same number of pairs may share their draws.
    ///
    /// # Panics
    ///
    /// Unless `confidence` lies strictly between 0 and 1 and the draws are for [`LogRatio::n`]
    /// pairs.
    pub fn bca(&self, resamples: &Resamples, confidence: f64) -> Option<Interval> {
        assert_fraction("the confidence", confidence);
        assert_eq!(resamples.n, self.n(), "the draws must be for as many pairs as there are");
        if self.n() < 3 {
            return None;
        }
        if self.sd_log() == Some(0.0) {
            return self.interval(confidence);
        }

        let deviations = deviations(&self.logs);
        let shifts = resamples.means(&deviations);
        let bias = Normal::standard().inverse_cdf(share_below_zero(&shifts));
        let acceleration = acceleration(&deviations);
        let end = |nominal: f64| {
            let z = bias + Normal::standard().inverse_cdf(nominal);
            let level = Normal::standard().cdf(bias + z / (1.0 - acceleration * z));
            (self.mean_log() + quantile(&shifts, level)).exp()
        };
        let tail = (1.0 - confidence) / 2.0;
        Some(Interval { lo: end(tail), hi: end(1.0 - tail) })
    }
}

/// Repeated draws of n out of n values, with replacement.
#[derive(Debug, Clone)]
pub struct Resamples {
    n: usize,
    count: usize,
    /// For each group of [`ABREAST`] resamples, the first index of each, then the second of each,
    /// and so on.
    indices: Vec<u32>,
}

/// Resamples that are summed side by side: one sum is limited by latency, several are not.
const ABREAST: usize = 8;

impl Resamples {
    /// Draws `count` resamples of `n` values.
    ///
    /// Equal arguments give equal draws: `seed` starts a xoshiro256++ generator, whose stream is
    /// fixed by its published definition.
    ///
    /// # Panics
    ///
    /// Unless `count` is at least [`FEWEST_RESAMPLES`].
    pub fn new(n: usize, count: usize, seed: u64) -> Self {
        assert!(
            count >= FEWEST_RESAMPLES,
            "there must be {FEWEST_RESAMPLES} resamples or more, but there are {count}"
        );
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut indices = vec![0; count.div_ceil(ABREAST) * ABREAST * n];
        for resample in 0..count {
            let group = resample / ABREAST * ABREAST * n;
            for draw in 0..n {
                indices[group + draw * ABREAST + resample % ABREAST] =
                    index_below(n, &mut generator);
            }
        }
        Self { n, count, indices }
    }

    /// The mean of each resample of `values`, in rising order; each is summed up as
    /// [`mean`](crate::moments::mean) does.
    fn means(&self, values: &[f64]) -> Vec<f64> {
        let n = count(self.n);
        let mut means = Vec::with_capacity(self.indices.len() / self.n);
        let mut drawn = vec![[0.0; ABREAST]; self.n];
        for group in self.indices.chunks_exact(ABREAST * self.n) {
            for (values_abreast, indices) in drawn.iter_mut().zip(group.chunks_exact(ABREAST)) {
                for (value, index) in values_abreast.iter_mut().zip(indices) {
                    *value = values[*index as usize];
                }
            }
            let rough = sums_less(&drawn, [0.0; ABREAST]).map(|sum| sum / n);
            let left = sums_less(&drawn, rough);
            means.extend(rough.iter().zip(left).map(|(rough, left)| rough + left / n));
        }
        means.truncate(self.count);
        means.sort_by(f64::total_cmp);
        means
    }
}

/// The sum of each column of values, less a number for each column.
fn sums_less(rows: &[[f64; ABREAST]], less: [f64; ABREAST]) -> [f64; ABREAST] {
    let mut sums = [0.0; ABREAST];
    for row in rows {
        for ((sum, value), less) in sums.iter_mut().zip(row).zip(less) {
            *sum += value - less;
        }
    }
    sums
}

/// A random index below `len`, by the high half of a 128-bit product.
///
/// The mapping is spelt out because a library's may change between versions and with it every
/// interval; its bias, below `len` / 2^64, is far under what any number of resamples could show.
pub(crate) fn index_below(len: usize, generator: &mut Xoshiro256PlusPlus) -> u32 {
    let product = u128::from(generator.next_u64()) * (len as u128);
    u32::try_from(product >> 64).expect("there are fewer than 2^32 values")
}

/// The share of resampled mean deviations below 0, which is where the estimate itself lies.
fn share_below_zero(sorted: &[f64]) -> f64 {
    // Drawing every value once gives the estimate again, except for the rounding of its sum.
    let scale = sorted[0].abs().max(sorted[sorted.len() - 1].abs());
    let tie = 1e-12 * scale;
    let below = sorted.partition_point(|&mean| mean < -tie);
    let not_above = sorted.partition_point(|&mean| mean <= tie);
    f64::midpoint(count(below), count(not_above)) / count(sorted.len())
}

/// The acceleration: a sixth of the skewness that the jackknife finds in the mean.
///
/// Leaving out one value moves the mean against that value's deviation, by a factor common to all
/// that cancels here. The result lies within ±1/6, so the denominator it goes into stays
/// positive at any confidence a bootstrap can resolve.
fn acceleration(deviations: &[f64]) -> f64 {
    let cubes: f64 = deviations.iter().map(|deviation| deviation.powi(3)).sum();
    cubes / (6.0 * sum_of_squares(deviations).powf(1.5))
}

/// The value at `level`, from 0 to 1, of a sorted sample, interpolated linearly.
///
/// Definition 7 of Hyndman & Fan 1996, "Sample quantiles in statistical packages", The American
/// Statistician 50.
fn quantile(sorted: &[f64], level: f64) -> f64 {
    let place = level * count(sorted.len() - 1);
    let before = place.floor();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a whole number between 0 and the last index"
    )]
    let index = before as usize;
    let next = (index + 1).min(sorted.len() - 1);
    sorted[index] + (place - before) * (sorted[next] - sorted[index])
}
