//! Defines the permutation test of whether what tells some things from the others would be found
//! by chance.
//!
//! If the labels had nothing to do with the things, every way to give as many of them the label
//! would be equally likely (R. A. Fisher, The Design of Experiments, 1935). The statistic may be
//! the best over many candidates: being taken over all of them each time, it needs no further
//! correction (Westfall and Young, Resampling-Based Multiple Testing, 1993).

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use crate::bca::index_below;
use crate::moments::count;

/// The most ways to label things that are all tried; of more, as many are drawn.
const MOST_WAYS: usize = 2_000;

/// The share of ways to give as many things the label whose statistic is at least that of `labels`,
/// which are one of them.
///
/// It is exact up to 2,000 ways. Of more, so many are drawn from a generator that starts with
/// `seed`, and the actual one is counted among them, so that the error stays below the level
/// (Phipson and Smyth, "Permutation p-values should never be zero", 2010).
pub fn p_of_labels(labels: &[bool], seed: u64, statistic: impl Fn(&[bool]) -> usize) -> f64 {
    let chosen = labels.iter().filter(|label| **label).count();
    let actual = statistic(labels);
    let is_as_large = |labels: &[bool]| statistic(labels) >= actual;
    if ways(labels.len(), chosen).is_some_and(|ways| ways <= MOST_WAYS) {
        let (mut all, mut reached) = (0, 0);
        each_way(labels.len(), chosen, |labels| {
            all += 1;
            reached += usize::from(is_as_large(labels));
        });
        return count(reached) / count(all);
    }
    let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut drawn = labels.to_vec();
    let mut reached = 1;
    for _ in 1..MOST_WAYS {
        // Fisher and Yates's shuffle.
        for end in (1..drawn.len()).rev() {
            drawn.swap(end, index_below(end + 1, &mut generator) as usize);
        }
        reached += usize::from(is_as_large(&drawn));
    }
    count(reached) / count(MOST_WAYS)
}

/// The number of ways to choose some of `n` things; `None` if it is far more than can be tried.
fn ways(n: usize, chosen: usize) -> Option<usize> {
    // After each step it is a number of ways itself, so every division is exact.
    (0..chosen.min(n - chosen)).try_fold(1_usize, |ways, taken| {
        let more = ways.checked_mul(n - taken)? / (taken + 1);
        (more <= MOST_WAYS * n).then_some(more)
    })
}

/// Calls a function with every way to give so many of `n` things the label.
fn each_way(n: usize, chosen: usize, mut call: impl FnMut(&[bool])) {
    let mut labels = vec![false; n];
    labels[..chosen].fill(true);
    loop {
        call(&labels);
        // The next way: the last label that has room behind it moves up by one, and those behind
        // it follow it directly.
        let Some(last) = labels.windows(2).rposition(|pair| pair == [true, false]) else { return };
        let behind = labels[last + 1..].iter().filter(|label| **label).count();
        labels[last..].fill(false);
        labels[last + 1..last + 2 + behind].fill(true);
    }
}

#[cfg(test)]
mod tests;
