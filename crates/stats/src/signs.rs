//! Defines the sign test, which assumes no distribution.
//!
//! It needs only the direction of each observation, so it also judges pairs that have no ratio
//! because one side is 0.

use crate::moments::count;

/// The one-sided p-value of `agree` of `of` observations in one direction: the probability of at
/// least so many if both directions were equally likely (Arbuthnott 1710, "An argument for divine
/// providence", Philosophical Transactions 27). 1 for none.
#[must_use]
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
