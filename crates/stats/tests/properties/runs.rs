//! The number of runs forecast is the number at which the interval itself leaves out the bound.

use proptest::prelude::*;
use ssdlab_stats::{LogRatio, runs_to_separate};

/// An estimate from `n` pairs with just this mean and standard deviation of the logarithms.
fn with_moments(n: u32, mean: f64, sd: f64) -> LogRatio {
    let reach = sd * (f64::from(n - 1) / 2.0).sqrt();
    let mut treatment = vec![mean.exp(); n as usize];
    treatment[0] = (mean - reach).exp();
    treatment[1] = (mean + reach).exp();
    LogRatio::paired(&treatment, &vec![1.0; n as usize]).expect("an exponential is above 0")
}

proptest! {
    #[test]
    fn the_bound_is_cleared_with_the_last_run(
        mean in -0.3..0.3,
        sd in 0.001..0.3,
        bound in 0.7..1.4,
        alpha in 0.001..0.2,
    ) {
        let runs = runs_to_separate(mean, sd, bound, alpha);
        prop_assume!(runs.is_some());
        let runs = runs.unwrap();
        // The smaller one-sided p-value is at most half of alpha exactly when the interval clears.
        let p = |n| {
            let estimate = with_moments(n, mean, sd);
            f64::min(estimate.p_above(bound).unwrap(), estimate.p_below(bound).unwrap())
        };
        prop_assert!(p(runs) <= alpha / 2.0 * (1.0 + 1e-6));
        prop_assert!(runs == 2 || p(runs - 1) > alpha / 2.0 * (1.0 - 1e-6));
    }
}
