//! How worn a drive is, and how long it will last.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_quantity::DAYS_PER_YEAR;

use crate::units::{Nanos, count};

/// Erase counts of the blocks for data; with superblocks, of superblocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WearSummary {
    /// How many blocks there are.
    pub blocks: u32,
    /// The fewest erases of a block.
    pub least: u32,
    /// Half of the blocks have at most so many.
    pub median: u32,
    /// The most erases of a block.
    pub most: u32,
    /// The mean.
    pub mean: f64,
    /// What a block can take; none if for ever.
    pub endurance: Option<u32>,
    /// Bins of equal width from the fewest to the most erases; absent in lines of a sweep.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub histogram: Vec<WearBin>,
}

/// A bin of a histogram of erase counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WearBin {
    /// The fewest erases that belong here.
    pub from: u32,
    /// The most erases that belong here.
    pub to: u32,
    /// How many blocks have so many.
    pub blocks: u32,
}

/// How long a drive lasts if it goes on as it did for a while.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Lifetime {
    /// Bytes the host can still write until the first block is worn out.
    pub host_bytes_to_first_block: f64,
    /// Bytes the host can still write until the average block is worn out.
    pub host_bytes_to_average: f64,
    /// The years until the average block is worn out; none for a drive outside time.
    pub years_to_average: Option<f64>,
    /// The years until the first block is worn out.
    pub years_to_first_block: Option<f64>,
}

/// How many bins a histogram has at most.
const BINS: u32 = 20;

const NANOS_PER_YEAR: f64 = DAYS_PER_YEAR * 86_400.0 * 1e9;

impl WearSummary {
    /// Summarises erase counts, after adding a number to each.
    pub(crate) fn of(erases: &[u32], added: u32, endurance: Option<u32>) -> Self {
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
        let blocks = count(erases.len());
        let half = blocks.div_ceil(2);
        let mut so_far = 0;
        let median = counts.iter().find(|(_, blocks)| {
            so_far += **blocks;
            so_far >= half
        });
        let total: u64 = counts.iter().map(|(n, blocks)| u64::from(*n) * u64::from(*blocks)).sum();
        Self {
            blocks,
            least,
            median: median.map_or(0, |(erases, _)| *erases),
            most,
            mean: total as f64 / f64::from(blocks.max(1)),
            endurance,
            histogram: bins.collect(),
        }
    }

    /// How long a drive with this wear lasts if it continues as it did since the wear was `before`,
    /// in which the host wrote these bytes in this time. For a drive without times, only a trace
    /// provides a time. None for a drive without an endurance limit, or if nothing was written or
    /// erased.
    pub fn lifetime(
        &self,
        before: &Self,
        host_written_bytes: u64,
        elapsed: Nanos,
    ) -> Option<Lifetime> {
        let grown = self.mean - before.mean;
        let most_grown = f64::from(self.most - before.most);
        let endurance = f64::from(self.endurance?);
        if grown <= 0.0 || host_written_bytes == 0 {
            return None;
        }
        let periods = (endurance - self.mean).max(0.0) / grown;
        // The most worn block may have been spared in this run, but will not be for ever.
        let first = (endurance - f64::from(self.most)).max(0.0) / most_grown.max(grown);
        let bytes = |periods: f64| periods * host_written_bytes as f64;
        let years = |periods: f64| {
            (elapsed > Nanos::ZERO).then(|| periods * elapsed.0 as f64 / NANOS_PER_YEAR)
        };
        Some(Lifetime {
            host_bytes_to_first_block: bytes(first),
            host_bytes_to_average: bytes(periods),
            years_to_average: years(periods),
            years_to_first_block: years(first),
        })
    }
}

#[cfg(test)]
mod tests;
