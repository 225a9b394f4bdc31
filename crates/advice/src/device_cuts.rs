//! What power cuts do to a logged device, of which nobody knows what it was to hold.

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_operations::cuts::{CutOutcome, Finding};

use super::cuts::{Proportion, Quantiles, proportion, quantiles, recovery};

/// What power cuts do to a logged device.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DeviceCuts {
    /// The number of power cuts. Each counts with the worst outcome among its examined states.
    pub number: u64,
    /// After how many of them the filesystem could not be mounted.
    pub unmountable: Proportion,
    /// How many of the checked cuts left a filesystem whose own check (fsck) reported errors,
    /// whether or not it could be mounted before; absent if none was checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amiss: Option<Proportion>,
    /// How long it took to mount, in ns, where that was possible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery_ns: Option<Quantiles>,
    /// The first cut that left the filesystem unmountable; if none did, the first that made its
    /// check fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<DeviceExample>,
}

/// One case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DeviceExample {
    /// The cut, from 0.
    pub cut: u32,
    /// What survived, from 0.
    pub survivor: u32,
}

/// Sums up the cuts of a device; `None` if there were none.
#[must_use]
pub fn device_cuts(outcomes: &[CutOutcome]) -> Option<DeviceCuts> {
    let cuts = || outcomes.chunk_by(|one, next| one.cut == next.cut);
    let first = |finding| {
        let found = outcomes.iter().find(|outcome| outcome.has(finding) == Some(true))?;
        Some(DeviceExample { cut: found.cut, survivor: found.survivor })
    };
    Some(DeviceCuts {
        number: cuts().count() as u64,
        unmountable: proportion(cuts(), |outcome| outcome.has(Finding::Unmountable))?,
        amiss: proportion(cuts(), |outcome| outcome.has(Finding::Amiss)),
        recovery_ns: quantiles(recovery(cuts())),
        example: Finding::ALL.into_iter().find_map(first),
    })
}
