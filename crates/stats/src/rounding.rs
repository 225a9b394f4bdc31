//! Defines when two logarithms differ by nothing but floating-point rounding.
//!
//! 0.3 / 0.1 and 3.0 / 1.0 are the same ratio and differ in their last bit. A metric that is the
//! same in every run (bytes written, say) would thus get a spread of 1e-16, and a test that divides
//! by it would find that 1e-16 highly significant.

/// The largest distance from `log`, a natural logarithm, that rounding alone can make.
///
/// Rounding a dividend, a divisor, their quotient and its logarithm moves the result by at most
/// (3/2 + |log|) machine epsilons; the rest of the factor 4 covers both sides of a difference and
/// the divisor n - 1 of a spread.
pub fn rounding(log: f64) -> f64 {
    4.0 * f64::EPSILON * (1.0 + log.abs())
}
