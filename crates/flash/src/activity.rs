//! What a drive's flash did between two moments, in the units of drive ratings: bytes as stored,
//! and blocks, not superblocks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_quantity::DAYS_PER_YEAR;

use crate::counters::FlashCounters;
use crate::drive::Drive;
use crate::nand::Nand;

/// The cumulative activity of a drive's flash at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlashTotals {
    counters: FlashCounters,
    /// By block.
    erases: Vec<u32>,
}

/// What the flash of a simulated drive did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlashActivity {
    /// Bytes programmed, for the host and for the drive's own work; on a drive that compresses, as
    /// they are stored.
    pub flash_written_bytes: u64,
    /// Bytes read, for the host and for the drive's own work.
    pub flash_read_bytes: u64,
    /// Blocks erased.
    pub erases: u64,
    /// Erases of the block that was erased most; with superblocks, of a superblock.
    #[serde(default)]
    pub hottest_erases: u64,
    /// How often the same can be done until that block has had all the erases it can take; absent
    /// where nothing was erased, or where a block can take any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats_until_worn: Option<f64>,
    /// For how many years, if it is done as often a day as the plan says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub years_until_worn: Option<f64>,
    /// How often the same can be done until the flash has been programmed its capacity times the
    /// erases that it can take, however evenly; absent where nothing was programmed, or where a
    /// block can take any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeats_by_bytes: Option<f64>,
    /// For how many years, if it is done as often a day as the plan says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub years_by_bytes: Option<f64>,
    /// How long the host's pages waited for dies that were busy with the drive's own work, summed
    /// over pages, in ns.
    pub stalled_ns: u64,
}

impl<N: Nand> Drive<N> {
    /// The cumulative activity of the flash up to now.
    pub fn flash_totals(&self) -> FlashTotals {
        FlashTotals { counters: *self.flash_counters(), erases: self.erases().to_vec() }
    }

    /// What the flash has done since an earlier moment, if [`Drive::reset_counts`] was not called
    /// in between.
    pub fn activity_since(&self, earlier: &FlashTotals) -> FlashActivity {
        let specification = self.specification();
        let (before, now) = (&earlier.counters, self.flash_counters());
        let grown = earlier.erases.iter().zip(self.erases()).map(|(before, now)| now - before);
        let hottest = grown.max().unwrap_or(0);
        let endurance = specification.wear.endurance;
        let left = endurance.map(|most| most.saturating_sub(self.nand().as_ref().aged()));
        let erases = now.erases.total() - before.erases.total();
        let bytes = |before: u64, now: u64| specification.stored_bytes(now - before);
        let flash_written_bytes = bytes(before.programs.total(), now.programs.total());
        // The spare blocks are not counted: some of them replace blocks that fail.
        let capacity = specification.capacity_bytes() as f64;
        let repeats = |done: f64, most: f64| {
            left.filter(|_| done > 0.0).map(|erases| f64::from(erases) * most / done)
        };
        FlashActivity {
            flash_written_bytes,
            flash_read_bytes: bytes(before.reads.total(), now.reads.total()),
            erases: erases * u64::from(specification.superblock),
            hottest_erases: hottest.into(),
            repeats_until_worn: repeats(f64::from(hottest), 1.0),
            years_until_worn: None,
            repeats_by_bytes: repeats(flash_written_bytes as f64, capacity),
            years_by_bytes: None,
            stalled_ns: (now.stalled - before.stalled).0,
        }
    }
}

impl FlashActivity {
    /// This activity with the years until wear-out, if it is repeated this often a day.
    #[must_use]
    pub fn repeated(self, a_day: f64) -> Self {
        let years = |repeats| repeats / (a_day * DAYS_PER_YEAR);
        Self {
            years_until_worn: self.repeats_until_worn.map(years),
            years_by_bytes: self.repeats_by_bytes.map(years),
            ..self
        }
    }
}
