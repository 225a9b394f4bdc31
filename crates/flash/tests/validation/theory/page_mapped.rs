//! Defines the steady-state write amplification of page mapping under uniform random overwrites.
//!
//! What distinguishes the collectors is which block they take: the oldest, any, the emptiest of a
//! few, or the emptiest of all. The host and the collector write to the same frontier. Where a
//! function does not ask for the pages per block, their number does not matter.

use super::argument::{assert_block, assert_fraction};
use super::root;

/// Collection in the order of writing (first in, first out); greedy tends to it as blocks grow.
///
/// alpha / (alpha + W0(-alpha e^-alpha)) with alpha = T / U = 1 / (1 - Sf) and W0 the principal
/// branch of Lambert's W (Desnoyers 2012, "Analytic modeling of SSD write performance", SYSTOR;
/// Xiang & Kurkoski 2012, "An improved analytic expression for write amplification in NAND flash",
/// arXiv 1110.4245).
///
/// `spare_factor` lies strictly between 0 and 1.
pub fn fifo(spare_factor: f64) -> f64 {
    assert_fraction("the spare factor", spare_factor);
    let alpha = 1.0 / (1.0 - spare_factor);
    // With W0 = -alpha e^-tau this reads alpha (1 - e^-tau) = tau: tau is a block's age when it is
    // collected, in host writes per U, and e^-tau the share of its pages that is still valid. The
    // left side is concave, so Newton's iteration from the right of the root only ever moves
    // towards it; it ends where rounding stops it.
    let mut tau = alpha;
    loop {
        let valid = (-tau).exp();
        let next = tau - (alpha * (1.0 - valid) - tau) / (alpha * valid - 1.0);
        if next >= tau || next.is_nan() {
            return alpha / tau;
        }
        tau = next;
    }
}

/// Collection of a block drawn at random: 1 / Sf (Van Houdt 2013, with one choice).
///
/// `spare_factor` lies strictly between 0 and 1.
pub fn random(spare_factor: f64) -> f64 {
    assert_fraction("the spare factor", spare_factor);
    1.0 / spare_factor
}

/// Collection of the block with the fewest valid pages among `choices` drawn at random.
///
/// Van Houdt 2013, "A mean field model for a class of garbage collection algorithms in flash-based
/// solid state drives", SIGMETRICS. Let a fraction M(i) of the blocks have at least i valid pages,
/// and m(i) exactly i. For every block collected a full one appears, one with i or more valid
/// pages goes with probability M(i)^d, and the host invalidates pages in proportion to i m(i):
/// lambda i m(i) = 1 - M(i)^d for i = b, ..., 1. The multiplier lambda follows from the number of
/// valid pages, sum i m(i) = (1 - Sf) b, and the amplification is b / (b - sum M(i)^d).
///
/// `spare_factor` lies strictly between 0 and 1, the others are at least 1.
pub fn d_choices(spare_factor: f64, pages_per_block: u32, choices: u32) -> f64 {
    assert_fraction("the spare factor", spare_factor);
    assert_block(pages_per_block);
    assert!(choices > 0, "at least 1 block must be drawn");
    let target = (1.0 - spare_factor) * f64::from(pages_per_block);
    // The sum of the equations over i makes the amplification 1 / ((1 - Sf) lambda). It lies
    // between 1 and that of a random victim, which brackets lambda.
    let most = 1.0 / (1.0 - spare_factor);
    let lambda = root::of_falling(spare_factor * most * 0.999, most, |lambda| {
        valid_per_block(lambda, pages_per_block, choices) - target
    });
    1.0 / ((1.0 - spare_factor) * lambda)
}

/// The mean number of valid pages in a block, sum i m(i) = sum M(i), for a given lambda.
fn valid_per_block(lambda: f64, pages_per_block: u32, choices: u32) -> f64 {
    let mut at_least = 0.0;
    let mut sum = 0.0;
    for valid in (1..=pages_per_block).rev() {
        at_least = next_at_least(at_least, lambda * f64::from(valid), f64::from(choices));
        sum += at_least;
    }
    sum
}

/// The M that solves `rate` (M - `above`) = 1 - M^`choices`.
///
/// The difference of the sides is convex and not negative at 1, so Newton's iteration from there
/// only ever falls towards the root; it ends where rounding stops it.
fn next_at_least(above: f64, rate: f64, choices: f64) -> f64 {
    let mut share: f64 = 1.0;
    loop {
        let power = share.powf(choices - 1.0);
        let excess = rate * (share - above) - (1.0 - share * power);
        let next = share - excess / (rate + choices * power);
        if next >= share {
            return share;
        }
        share = next;
    }
}

/// Collection of the block with the fewest valid pages of all.
///
/// The limit of [`d_choices`] for many choices, at finite b. M(i)^d is then 0 as long as M(i) is
/// below 1, so m(i) = 1 / (lambda i) down to the emptiest occupied level j, which holds the rest:
/// lambda = ((b - j) - j (H(b) - H(j))) / ((1 - Sf) b - j), with H the harmonic numbers and j the
/// only level for which H(b) - H(j) < lambda <= H(b) - H(j - 1). The amplification is
/// 1 / ((1 - Sf) lambda).
///
/// `spare_factor` lies strictly between 0 and 1, `pages_per_block` is at least 1.
pub fn greedy(spare_factor: f64, pages_per_block: u32) -> f64 {
    assert_fraction("the spare factor", spare_factor);
    assert_block(pages_per_block);
    let block = f64::from(pages_per_block);
    let target = (1.0 - spare_factor) * block;
    let mut harmonic_tail = 0.0;
    for emptiest in (0..pages_per_block).rev() {
        let level = f64::from(emptiest);
        harmonic_tail += 1.0 / (level + 1.0);
        let lambda = (block - level - level * harmonic_tail) / (target - level);
        if level < target && (emptiest == 0 || lambda <= harmonic_tail + 1.0 / level) {
            return 1.0 / ((1.0 - spare_factor) * lambda);
        }
    }
    unreachable!("level 0 is always below the target")
}
