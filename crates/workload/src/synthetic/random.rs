//! Random numbers for the generators: the same seed gives the same numbers on every machine.
//!
//! The generators need few kinds of draws, all in integers. They are derived from the raw stream of
//! xoshiro256++, whose reference outputs never change; the results of a library of distributions
//! may change with its version.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// The purpose of a stream of random numbers: streams of one seed are independent.
#[derive(Clone, Copy, Debug)]
pub(super) enum RandomPurpose {
    Text = 1,
    Binary = 2,
    Tree = 3,
    Build = 4,
    BonnieSeeks = 5,
    BonnieNames = 6,
    BonnieOrder = 7,
    Churn = 8,
    ReadOrder = 9,
    Mail = 10,
}

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub(super) struct RandomStream(Xoshiro256PlusPlus);

impl RandomStream {
    pub(super) fn new(seed: u64, stream: RandomPurpose) -> Self {
        let seed = mix(seed) ^ mix(stream as u64);
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// A new stream, independent of the rest of this one.
    pub(super) fn branch(&mut self) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(self.bits()))
    }

    pub(super) fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number in `0..n`, uniform to within `n` parts in 2^64; `n` is above 0.
    pub(super) fn below(&mut self, n: u64) -> u64 {
        debug_assert!(n > 0);
        high_half(u128::from(self.bits()) * u128::from(n))
    }

    /// An index into a list of `length` items; `length` is above 0.
    pub(super) fn index(&mut self, length: usize) -> usize {
        to_usize(self.below(to_u64(length)))
    }

    /// True once in `n` times on average; `n` is above 0.
    pub(super) fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// Shuffles the items (Fisher and Yates).
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.index(last + 1));
        }
    }
}

/// A one-to-one scrambling of 64 bits: the last step of `SplitMix64` (Steele, Lea and Flood,
/// "Fast splittable pseudorandom number generators", 2014).
pub(crate) const fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Ranks drawn with decreasing weight, like words in a text (Zipf's law): rank r has weight 1 / (r
/// + 1 + `flat`), so `flat` makes the first ranks more alike.
#[derive(Clone, Debug)]
pub(super) struct Zipf {
    cumulative: Vec<u64>,
}

impl Zipf {
    pub(super) fn new(ranks: usize, flat: u64) -> Self {
        let weight = |rank: usize| (1 << 40) / (to_u64(rank) + 1 + flat);
        let running = |sum: &mut u64, rank| {
            *sum += weight(rank);
            Some(*sum)
        };
        Self { cumulative: (0..ranks).scan(0, running).collect() }
    }

    /// A rank in `0..ranks`; there is at least one.
    pub(super) fn rank(&self, random: &mut RandomStream) -> usize {
        let total = self.cumulative.last().copied().unwrap_or(1);
        let drawn = random.below(total);
        self.cumulative.partition_point(|&sum| sum <= drawn)
    }
}

/// A length as a 64-bit number.
pub(super) fn to_u64(length: usize) -> u64 {
    u64::try_from(length).expect("a usize is at most 64 bits wide")
}

/// A 64-bit number as a length; numbers here count things that are in memory.
pub(super) fn to_usize(n: u64) -> usize {
    usize::try_from(n).expect("what is counted is in memory")
}

fn high_half(wide: u128) -> u64 {
    u64::try_from(wide >> 64).expect("the upper half of 128 bits is 64 bits wide")
}

#[cfg(test)]
mod tests;
