//! Defines the estimate of a ratio of totals from an experiment on a machine that goes on working:
//! stretches of its time under either treatment, in blocks of one each, in a random order.
//!
//! What such a machine does varies by orders of magnitude, and a few stretches may have most of it.
//! Logarithms would answer for the typical stretch, not for the total, and have no zero. So the
//! ratio of the sums is estimated, and the order, which was drawn, is all that its test assumes.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::Interval;
use crate::error::assert_fraction;
use crate::moments::count;

/// All sets of up to so many blocks are tried; of more, [`DRAWN_SETS`] are drawn.
const MOST_BLOCKS_TRIED: usize = 13;
const DRAWN_SETS: usize = 9_999;

/// The first seed of the drawn sets; fixed, so that a report is reproducible.
const SEED: u64 = 0x5eed;

/// The ratio of a treatment's total to its baseline's.
///
/// Had the treatments been swapped in any set of blocks, the experiment would have been as likely.
/// For a ratio r the swapped experiment is as extreme as the real one if the set's sum of the
/// treatment is r times that of the baseline: the ratios of the sums over random sets, sorted, are
/// the randomisation test inverted (J. A. Hartigan, "Using subsample values as typical values",
/// Journal of the American Statistical Association 64, 1969). It is exact if the treatment
/// multiplies what a stretch has.
#[derive(Debug, Clone, PartialEq)]
pub struct Switchback {
    ratio: f64,
    /// The sums of the treatment and of the baseline over each set.
    sums: Vec<(f64, f64)>,
}

impl Switchback {
    /// Estimates from the values of both sides by block. `asked` is what was asked of the machine
    /// on each side, if it is known: what it explains is taken out of both. That keeps the test
    /// exact, as swapping cannot change the coefficient, that of least squares through zero on the
    /// differences within blocks.
    ///
    /// `None` without blocks, or if both sides have nothing at all.
    pub fn of(blocks: &[(f64, f64)], asked: Option<&[(f64, f64)]>) -> Option<Self> {
        let is_anything = |(own, other): &(f64, f64)| *own != 0.0 || *other != 0.0;
        if !blocks.iter().any(is_anything) {
            return None;
        }
        let adjusted = asked.map(|asked| without(blocks, asked));
        let blocks = adjusted.as_deref().unwrap_or(blocks);
        let ratio = ratio_of(total(blocks.iter().copied()), 0.0);
        Some(Self { ratio, sums: sums_of_sets(blocks) })
    }

    /// The ratio of the totals; infinite if only the baseline has nothing.
    pub fn ratio(&self) -> f64 {
        self.ratio
    }

    /// The interval of the ratio; its ends may be 0 and infinite.
    ///
    /// # Panics
    ///
    /// Unless `confidence` lies strictly between 0 and 1.
    pub fn interval(&self, confidence: f64) -> Interval {
        assert_fraction("the confidence", confidence);
        // A set without anything says nothing: it counts against both ends.
        let sorted = |silent: f64| {
            let mut ratios: Vec<f64> =
                self.sums.iter().map(|sums| ratio_of(*sums, silent)).collect();
            ratios.sort_by(f64::total_cmp);
            ratios
        };
        let ways = count(self.sums.len() + 1);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share")]
        let cut = ((1.0 - confidence) / 2.0 * ways) as usize;
        let Some(first) = cut.checked_sub(1) else {
            return Interval { lo: 0.0, hi: f64::INFINITY };
        };
        let lo = sorted(0.0)[first].max(0.0);
        Interval { lo, hi: sorted(f64::INFINITY)[self.sums.len() - cut].max(lo) }
    }

    /// The one-sided p-values of lying above a bound and below it: the shares of sets, the real
    /// experiment among them, that do not.
    pub fn p_above_and_below(&self, bound: f64) -> (f64, f64) {
        let ways = count(self.sums.len() + 1);
        let share = |is_against: fn(f64, f64) -> bool| {
            let against = self.sums.iter().filter(|(own, other)| is_against(*own, bound * *other));
            count(1 + against.count()) / ways
        };
        (share(|own, bound| own <= bound), share(|own, bound| own >= bound))
    }

    /// The two-sided p-value of "the ratio is 1".
    pub fn p_differs(&self) -> f64 {
        let (above, below) = self.p_above_and_below(1.0);
        (2.0 * above.min(below)).min(1.0)
    }
}

/// Which blocks to keep so that a total is spread over at least half of them, (Σq)² ≥ n/2 Σq²
/// (Kish's effective number, Survey Sampling, 1965): the largest are dropped, blind to which side
/// had how much. If any is, nothing can be said about the total.
pub fn even_blocks(values: &[f64]) -> Vec<bool> {
    let mut kept = vec![true; values.len()];
    loop {
        let own = || values.iter().zip(&kept).filter(|(_, kept)| **kept).map(|(value, _)| *value);
        let (sum, squares): (f64, f64) = (own().sum(), own().map(|value| value * value).sum());
        if 2.0 * sum * sum >= count(own().count()) * squares {
            return kept;
        }
        let largest = (0..values.len()).filter(|index| kept[*index]);
        let largest = largest.max_by(|one, other| values[*one].total_cmp(&values[*other]));
        kept[largest.expect("without blocks the sums are equal")] = false;
    }
}

/// A ratio of sums. A side can have less than nothing when what was asked has been taken out.
fn ratio_of((own, other): (f64, f64), silent: f64) -> f64 {
    match (own > 0.0, other > 0.0) {
        (true, true) => own / other,
        (true, false) => f64::INFINITY,
        (false, true) => 0.0,
        (false, false) => silent,
    }
}

fn total(blocks: impl Iterator<Item = (f64, f64)>) -> (f64, f64) {
    blocks.fold((0.0, 0.0), |sums, block| (sums.0 + block.0, sums.1 + block.1))
}

/// Both sides without what the difference of what was asked explains of each.
fn without(blocks: &[(f64, f64)], asked: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let excess: Vec<f64> = asked.iter().map(|(own, other)| own - other).collect();
    let squares: f64 = excess.iter().map(|excess| excess * excess).sum();
    if squares <= 0.0 {
        return blocks.to_vec();
    }
    let of = |side: fn(&(f64, f64)) -> f64| {
        excess.iter().zip(blocks).map(|(excess, block)| excess * side(block)).sum::<f64>() / squares
    };
    let (own, other) = (of(|block| block.0), of(|block| block.1));
    let each = blocks.iter().zip(&excess);
    each.map(|(block, excess)| (block.0 - own * excess, block.1 - other * excess)).collect()
}

fn sums_of_sets(blocks: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if blocks.len() <= MOST_BLOCKS_TRIED {
        return (1_u64..1 << blocks.len()).map(|set| sum_of_set(blocks, set)).collect();
    }
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let mut draw =
        || total(blocks.chunks(64).map(|blocks| sum_of_set(blocks, generator.next_u64())));
    (0..DRAWN_SETS).map(|_| draw()).collect()
}

/// The sums over the blocks whose bits are set; bits beyond them mean nothing.
fn sum_of_set(blocks: &[(f64, f64)], mut set: u64) -> (f64, f64) {
    let mut sums = (0.0, 0.0);
    while let Some(block) = blocks.get(set.trailing_zeros() as usize) {
        sums.0 += block.0;
        sums.1 += block.1;
        set &= set - 1;
    }
    sums
}

#[cfg(test)]
mod tests;
