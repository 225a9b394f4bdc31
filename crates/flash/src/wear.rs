//! How worn a drive is, and how long it will last.

use std::collections::BTreeMap;

use crate::units::count;

/// Erase counts of a drive's blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WearSummary {
    /// The fewest erases of a block.
    pub least: u32,
    /// Half of the blocks have at most so many.
    pub median: u32,
    /// The most erases of a block.
    pub most: u32,
    /// All erases.
    pub total: u64,
    /// How many blocks there are.
    pub blocks: u32,
    /// Bins of equal width from the fewest to the most erases.
    pub histogram: Vec<WearBin>,
}

/// A bin of a histogram of erase counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WearBin {
    /// The fewest erases that belong here.
    pub from: u32,
    /// The most erases that belong here.
    pub to: u32,
    /// How many blocks have so many.
    pub blocks: u32,
}

/// How many bins a histogram has at most.
const BINS: u32 = 20;

impl WearSummary {
    /// Sums up erase counts, to each of which so many are added.
    pub(crate) fn of(erases: &[u32], added: u32) -> Self {
        let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
        for erases in erases {
            *counts.entry(erases.saturating_add(added)).or_default() += 1;
        }
        let least = counts.first_key_value().map_or(0, |(erases, _)| *erases);
        let most = counts.last_key_value().map_or(0, |(erases, _)| *erases);
        let width = (most - least) / BINS + 1;
        let bins = (0..=(most - least) / width).map(|bin| {
            let from = least + bin * width;
            let to = from.saturating_add(width - 1).min(most);
            WearBin { from, to, blocks: counts.range(from..=to).map(|(_, blocks)| blocks).sum() }
        });
        let half = count(erases.len()).div_ceil(2);
        let mut so_far = 0;
        let median = counts.iter().find(|(_, blocks)| {
            so_far += **blocks;
            so_far >= half
        });
        Self {
            least,
            median: median.map_or(0, |(erases, _)| *erases),
            most,
            total: counts.iter().map(|(n, blocks)| u64::from(*n) * u64::from(*blocks)).sum(),
            blocks: count(erases.len()),
            histogram: bins.collect(),
        }
    }

    /// The mean number of erases of a block.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.total as f64 / f64::from(self.blocks.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_counts_every_block_once() {
        let erases: Vec<u32> = (0..1000).map(|block| block % 100).collect();
        let wear = WearSummary::of(&erases, 50);
        assert_eq!((wear.least, wear.median, wear.most), (50, 99, 149));
        assert_eq!((wear.total, wear.blocks), (99_500, 1000));
        assert_eq!(wear.histogram.iter().map(|bin| bin.blocks).sum::<u32>(), 1000);
        assert!(wear.histogram.len() <= 20);
        assert!(wear.histogram.windows(2).all(|pair| pair[0].to + 1 == pair[1].from));
    }

    #[test]
    fn a_drive_of_one_block_and_a_drive_at_the_limit_have_a_summary() {
        assert_eq!(WearSummary::of(&[7], 0).histogram, [WearBin { from: 7, to: 7, blocks: 1 }]);
        assert_eq!(WearSummary::of(&[0, 1], u32::MAX).most, u32::MAX);
    }
}
