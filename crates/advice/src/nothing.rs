//! Comparisons with nothing: a side that is 0 has no logarithm, and a ratio to it has no value, yet
//! something against nothing is as clear as a difference can be.
//!
//! Such pairs are tested by their signs: each is above a bound or below it (Arbuthnott 1710, "An
//! argument for divine providence", Philosophical Transactions 27). Something is above any multiple
//! of nothing, and nothing below any multiple of something. Nothing against nothing tells neither.

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_stats::p_of_signs;

/// What was measured on both sides where one of them has nothing in some runs, so that there is no
/// ratio.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "AgainstNothing")]
pub struct ZeroComparison {
    /// The mean of the side in question.
    pub own: f64,
    /// The mean of the side that it is compared with; absent of amounts.
    pub other: Option<f64>,
    /// In how many runs a side has nothing.
    pub in_runs: usize,
    /// The number of runs.
    pub of: usize,
}

impl ZeroComparison {
    /// The ratio of the means: 0, infinite, or between if only some runs have nothing.
    pub fn ratio(&self) -> f64 {
        self.own / self.other.unwrap_or(1.0)
    }
}

/// Pairs of values, 1 in place of a side that nothing is compared with.
#[derive(Clone)]
pub(super) struct Signs {
    pairs: Vec<(f64, f64)>,
    is_compared: bool,
}

impl Signs {
    /// `None` if no side of a pair has nothing, if both sides of one have, or if a value is below 0
    /// or not finite.
    pub fn of(pairs: Vec<(f64, f64)>, is_compared: bool) -> Option<Self> {
        let is_amount = |value: f64| value.is_finite() && value >= 0.0;
        let are_told = pairs
            .iter()
            .all(|(own, other)| is_amount(*own) && is_amount(*other) && own.max(*other) > 0.0);
        let signs = Self { pairs, is_compared };
        (are_told && signs.nothing() > 0).then_some(signs)
    }

    fn nothing(&self) -> usize {
        self.pairs.iter().filter(|(own, other)| own.min(*other) <= 0.0).count()
    }

    pub fn n(&self) -> usize {
        self.pairs.len()
    }

    pub fn found(&self) -> ZeroComparison {
        let mean = |of: fn(&(f64, f64)) -> f64| {
            self.pairs.iter().map(of).sum::<f64>() / self.pairs.len() as f64
        };
        ZeroComparison {
            own: mean(|pair| pair.0),
            other: self.is_compared.then(|| mean(|pair| pair.1)),
            in_runs: self.nothing(),
            of: self.n(),
        }
    }

    /// How many pairs are above a bound, and how many below it.
    fn sides(&self, bound: f64) -> [usize; 2] {
        let above = self.pairs.iter().filter(|(own, other)| *own > bound * other).count();
        let below = self.pairs.iter().filter(|(own, other)| *own < bound * other).count();
        [above, below]
    }

    /// Whether all pairs are on one side of a bound.
    pub fn agree(&self, bound: f64) -> bool {
        self.sides(bound).contains(&self.n())
    }

    /// The p-values of lying above and below a bound.
    pub fn p_above_and_below(&self, bound: f64) -> (f64, f64) {
        let [above, below] = self.sides(bound).map(|count| p_of_signs(count, self.n()));
        (above, below)
    }
}

#[cfg(test)]
mod tests;
