//! Defines the mean and the standard deviation that the whole crate computes with, and what of a
//! spread is nothing but rounding.
//!
//! The textbook one-pass sums lose all precision when the spread is small compared with the mean,
//! as in a good measurement. These take a second pass over the data instead, and make the mean of
//! equal values exactly that value, so that "no spread" is exactly 0.

/// The number of items as a real number.
#[expect(clippy::cast_precision_loss, reason = "a slice of samples is far shorter than 2^52 items")]
pub fn count(items: usize) -> f64 {
    items as f64
}

/// The arithmetic mean, within a rounding of the true one; NaN for an empty slice.
///
/// The second pass adds the mean of what the first one left over (Chan, Golub & `LeVeque` 1983,
/// "Algorithms for computing the sample variance", The American Statistician 37).
pub fn mean(values: &[f64]) -> f64 {
    let n = count(values.len());
    let rough = values.iter().sum::<f64>() / n;
    rough + values.iter().map(|value| value - rough).sum::<f64>() / n
}

/// Each value less the mean of all of them, in the order given.
pub fn deviations(values: &[f64]) -> Vec<f64> {
    let mean = mean(values);
    values.iter().map(|value| value - mean).collect()
}

pub fn sum_of_squares(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum()
}

/// The standard deviation of a sample, with the divisor n - 1; `None` for n < 2.
pub fn sd(values: &[f64]) -> Option<f64> {
    (values.len() >= 2)
        .then(|| (sum_of_squares(&deviations(values)) / count(values.len() - 1)).sqrt())
}

/// The largest distance from `log`, a natural logarithm, that rounding alone can make.
///
/// 0.3 / 0.1 and 3.0 / 1.0 are the same ratio and differ in their last bit. A metric that is the
/// same in every run (bytes written, say) would thus get a spread of 1e-16, and a test that divides
/// by it would find that 1e-16 highly significant.
///
/// Rounding a dividend, a divisor, their quotient and its logarithm moves the result by at most
/// (3/2 + |log|) machine epsilons; the rest of the factor 4 covers both sides of a difference and
/// the divisor n - 1 of a spread.
pub fn rounding(log: f64) -> f64 {
    4.0 * f64::EPSILON * (1.0 + log.abs())
}
