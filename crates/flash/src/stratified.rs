//! Numbers that are spread evenly whatever their count, and do not change when more are added.
//!
//! A Latin hypercube of N draws puts one into each of N equal parts of every value's range, and a
//! different N moves them all. Here a draw is a function of its own number alone, so that a run can
//! be extended by blocks: each value follows van der Corput's sequence in base 2, whose first 2^m
//! numbers lie one in each of 2^m equal parts, and whose first n differ from an even spread by at
//! most about log2(n). Owen's nested scrambling makes each number uniform without giving that up
//! ("Randomly permuted (t,m,s)-nets and (t,s)-sequences", 1995), and scrambling the numbers of the
//! draws in the same way pairs the values of a draw at random, as a Latin hypercube does (Burley,
//! "Practical hash-based Owen scrambling", Journal of Computer Graphics Techniques 9(4), 2020).
//! Everything is integer arithmetic.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A random sequence, identified by numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stream(u64);

impl Stream {
    pub fn new(seed: u64, name: &str) -> Self {
        // FNV-1a: a value's sequence depends on its name alone, so adding or removing others does
        // not change it.
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self(mix(mix(seed) ^ hash))
    }

    /// Another one.
    pub fn then(self, number: u32) -> Self {
        Self(mix(self.0 ^ mix(number.into())))
    }

    /// The position of the draw with this number, in units of 2^-32.
    pub fn at(self, draw: u32) -> u32 {
        scramble(self.then(0), scramble(self.then(1), draw).reverse_bits())
    }
}

/// Flips each bit or not depending on all higher bits, so that numbers that share high bits still
/// share as many.
fn scramble(stream: Stream, number: u32) -> u32 {
    (0..u32::BITS).fold(number, |scrambled, place| {
        let higher = u64::from(number) >> place >> 1;
        let turns = mix(stream.0 ^ mix(u64::from(place) << u32::BITS | higher)) & 1;
        scrambled ^ u32::from(turns == 1) << place
    })
}

/// Mixes the bits of a number.
fn mix(number: u64) -> u64 {
    SplitMix64::seed_from_u64(number).next_u64()
}

#[cfg(test)]
mod tests;
