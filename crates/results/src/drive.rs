//! The history of a simulated drive during a trial.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_flash::{Moment, WearSummary};

/// A simulated drive from the first phase of a trial to its end. The lists are parallel: the nth
/// values of all belong to the nth moment, of which there are a few dozen at most.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DriveCourse {
    /// When each phase began, in ns since the first one did.
    pub phases_ns: BTreeMap<String, u64>,
    /// The moments, in ns since the first phase began.
    pub at_ns: Vec<u64>,
    /// Erased blocks (or superblocks, if it has them) ready to be written.
    pub free_blocks: Vec<u32>,
    /// Bytes in pages written by the host since the first moment.
    pub host_page_bytes: Vec<u64>,
    /// Bytes programmed since the first moment, for the host and for the drive's own work.
    pub flash_written_bytes: Vec<u64>,
    /// How long the host's pages had waited since the first moment for dies busy with the drive's
    /// own work, summed over pages, in ns.
    pub stalled_ns: Vec<u64>,
    /// Its wear at the end, including its life before the trial.
    pub wear: WearSummary,
}

impl DriveCourse {
    /// The course of a drive from its moments, the first of which is the start of the first phase,
    /// the start of each phase, and its wear at the end. `None` without a moment.
    #[must_use]
    pub fn of(
        moments: &[Moment],
        phases_ns: BTreeMap<String, u64>,
        wear: WearSummary,
    ) -> Option<Self> {
        let first = moments.first()?;
        let grown = |of: fn(&Moment) -> u64| {
            moments.iter().map(|moment| of(moment).saturating_sub(of(first))).collect()
        };
        Some(Self {
            phases_ns,
            at_ns: moments.iter().map(|moment| moment.at_ns).collect(),
            free_blocks: moments.iter().map(|moment| moment.free_blocks).collect(),
            host_page_bytes: grown(|moment| moment.host_page_bytes),
            flash_written_bytes: grown(|moment| moment.flash_written_bytes),
            stalled_ns: grown(|moment| moment.stalled_ns),
            wear,
        })
    }
}
