//! Random choices from a seed: the same seed gives the same choices on every machine.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A stream of random numbers.
#[derive(Debug, Clone)]
pub(crate) struct DriveRandom(Xoshiro256PlusPlus);

impl DriveRandom {
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// A number in `0..n`, uniform to within `n` parts in 2^32; `n` is above 0.
    pub fn below(&mut self, n: u32) -> u32 {
        let high = self.0.next_u64() >> 32;
        u32::try_from((high * u64::from(n)) >> 32).expect("the product of two 32-bit numbers")
    }

    /// A number from 0 to below 1.
    pub fn fraction(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }
}
