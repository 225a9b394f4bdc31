//! Defines the two functions of Student's t distribution that this crate needs.
//!
//! They hide the distribution's own interface, so that a tail probability is never computed as 1
//! minus a number close to 1.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// The critical value exceeded, in one direction or the other, with probability `outside`.
///
/// `outside` lies strictly between 0 and 1; `freedom` is above 0, and a whole number except with
/// Welch's approximation.
pub fn critical(outside: f64, freedom: f64) -> f64 {
    -standard(freedom).inverse_cdf(outside / 2.0)
}

/// The probability of a value above `t`; `freedom` is above 0.
pub fn upper_tail(t: f64, freedom: f64) -> f64 {
    standard(freedom).sf(t)
}

fn standard(freedom: f64) -> StudentsT {
    StudentsT::new(0.0, 1.0, freedom).expect("the degrees of freedom are above 0")
}
