//! Distributions in integers: tables of quantiles, and a total divided by weights.
//!
//! Measured distributions are tables, not formulas: formulas need floating-point functions, whose
//! last bits differ between C libraries.

use super::random::{RandomStream, to_u64};

/// The number of entries of a table.
const ENTRIES: usize = 40;

/// The number of evenly spaced entries; the rest are in the tail.
const EVEN: u64 = 32;

/// The position of the largest value; the smallest is at 0.
const END: u64 = 1 << 32;

/// A distribution as its quantiles, with linear interpolation.
///
/// The entries are the quantiles 0/32 to 31/32, then, because the sizes of files have long
/// tails, 1 - 1/64, 1 - 1/128 and so on to 1 - 1/4096, then the maximum.
#[derive(Clone, Debug)]
pub(super) struct SizeQuantiles(pub(super) [u64; ENTRIES]);

impl SizeQuantiles {
    /// The value below which `position` / 2^32 of all values lie.
    fn at(&self, position: u64) -> u64 {
        let after = (1..ENTRIES - 1).find(|&entry| position < entry_position(entry));
        let after = after.unwrap_or(ENTRIES - 1);
        let (low, high) = (self.0[after - 1], self.0[after]);
        let (start, end) = (entry_position(after - 1), entry_position(after));
        // The largest value in use is below 2^32, and so is the distance: no overflow.
        low + (high - low) * (position - start) / (end - start)
    }

    /// One value at random.
    pub(super) fn draw(&self, random: &mut RandomStream) -> u64 {
        self.at(random.below(END))
    }

    /// `count` ascending values that follow the distribution: value i is the quantile (i + 1/2) /
    /// `count`. Random draws would add noise that differs from seed to seed.
    pub(super) fn spread(&self, count: u64) -> impl Iterator<Item = u64> {
        let middle = move |i| scale(2 * i + 1, END, 2 * count);
        (0..count).map(move |i| self.at(middle(i)))
    }
}

/// The position of an entry of a table.
fn entry_position(entry: usize) -> u64 {
    let entry = to_u64(entry);
    if entry < EVEN {
        entry * (END / EVEN)
    } else if entry < to_u64(ENTRIES) - 1 {
        END - (END >> (entry - EVEN + 6))
    } else {
        END
    }
}

/// Divides `total` in proportion to the weights; the shares add up to it exactly, and each is
/// within 1 of its proportion. If all weights are 0, so are the shares.
pub(super) fn apportion(total: u64, weights: &[u64]) -> Vec<u64> {
    let sum: u64 = weights.iter().sum();
    let (mut weighed, mut given) = (0, 0);
    let mut share = |weight: &u64| {
        weighed += weight;
        // Rounding the running total, not each share, keeps the sum exact.
        let due = scale(weighed, total, sum.max(1));
        let share = due - given;
        given = due;
        share
    };
    weights.iter().map(&mut share).collect()
}

/// `value * multiplier / divisor` without overflow, rounded to the nearest integer.
pub(super) fn scale(value: u64, multiplier: u64, divisor: u64) -> u64 {
    let product = u128::from(value) * u128::from(multiplier);
    let rounded = (product + u128::from(divisor / 2)) / u128::from(divisor);
    u64::try_from(rounded).expect("a share is no larger than the whole")
}

#[cfg(test)]
mod tests;
