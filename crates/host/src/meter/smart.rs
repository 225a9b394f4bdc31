//! A drive's own counters and wear, which only root may ask it for.
//!
//! A drive with NVM Express is asked directly: smartctl would ask for the same log, and may be
//! missing. Of others smartctl is asked, whose database explains the vendors' attributes.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::program::Rules;
use crate::wear::DriveWear;

mod nvme;
mod smartctl;

pub use smartctl::parse as parse_smartctl;

/// A drive's host counters and wear indicators, as records have them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Smart {
    /// Bytes written by the host, in the drive's granularity.
    pub host_written_bytes: Option<u64>,
    /// The used share of the rated life, in percent.
    pub used_percent: Option<u64>,
    /// Hours powered on.
    pub power_on_hours: Option<u64>,
}

impl Smart {
    /// Asks a drive; `None` if it has no such counters.
    pub fn read(device: &Path, rules: Rules<'_>) -> Option<Self> {
        let told = nvme::health(device).or_else(|| smartctl::read(device, rules))?;
        let smart = Self {
            host_written_bytes: told.host_written_bytes,
            used_percent: told.used_percent.map(|[_, used]| used),
            power_on_hours: told.power_on_hours,
        };
        (smart != Self::default()).then_some(smart)
    }
}

/// Asks a drive for its own log; `None` if it does not tell, or this is not root.
pub fn read(device: &Path, rules: Rules<'_>) -> Option<DriveWear> {
    nvme::read(device).or_else(|| smartctl::read(device, rules))
}
