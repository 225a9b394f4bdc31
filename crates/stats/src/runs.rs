//! Defines how many runs an answer needs.
//!
//! An experiment should know before its last run whether more runs will help. The forecast is from
//! the spread seen so far and no better than it. A spread estimated from few runs is uncertain
//! itself, so forecast again as runs come in.

use crate::error::{assert_fraction, assert_positive};
use crate::moments::count;
use crate::moments::rounding;
use crate::student::critical;

/// The maximum number of runs ever recommended; a question that needs more needs another method.
pub const MOST_RUNS: u32 = 10_000;

/// The total number of runs (pairs) for which the t interval of a ratio leaves out a bound.
///
/// The least n of 2 or more with t(n-1) · `sd_log` / √n ≤ |`mean_log` - ln(`bound`)|, where t is
/// the two-sided critical value at `alpha`. It depends on n, so n is found by search, not by
/// approximation. The interval of confidence 1 - `alpha` then just clears the bound, if mean and
/// spread stay as they are. They will vary, so the chance of separating at that n is about one
/// half, not a certainty.
///
/// `None` when [`MOST_RUNS`] would not be enough, and so whenever the mean equals the bound (within
/// rounding).
///
/// # Panics
///
/// Unless `mean_log` is finite, `sd_log` finite and not negative, `bound` finite and above 0, and
/// `alpha` strictly between 0 and 1.
pub fn runs_to_separate(mean_log: f64, sd_log: f64, bound: f64, alpha: f64) -> Option<u32> {
    assert!(mean_log.is_finite(), "the mean log-ratio must be finite, but is {mean_log}");
    assert_positive("the bound", bound);
    assert_fraction("alpha", alpha);
    let distance = (mean_log - bound.ln()).abs();
    let runs = fewest_runs(sd_log, distance, alpha);
    runs.filter(|_| distance > rounding(mean_log))
}

/// The least n from 2 to [`MOST_RUNS`] whose t interval, missing the truth with probability
/// `outside`, reaches no farther than `reach` to either side.
fn fewest_runs(sd_log: f64, reach: f64, outside: f64) -> Option<u32> {
    assert!(
        sd_log.is_finite() && sd_log >= 0.0,
        "the standard deviation must be finite and not negative, but is {sd_log}"
    );
    let enough =
        |runs: usize| critical(outside, count(runs - 1)) * sd_log / count(runs).sqrt() <= reach;
    // The half width falls with every run added, so halving the range finds the exact n.
    let (mut least, mut beyond) = (2, MOST_RUNS + 1);
    while least < beyond {
        let middle = least.midpoint(beyond);
        if enough(middle as usize) {
            beyond = middle;
        } else {
            least = middle + 1;
        }
    }
    (least <= MOST_RUNS).then_some(least)
}
