//! A drive's own counters, through `smartctl --json`.
//!
//! Source: NVM Express Base Specification, SMART / Health Information log: a data unit is 1000
//! blocks of 512 bytes, rounded up. ATA attributes and their units are vendor-specific: the count
//! of writes is read only where smartctl's database (drivedb.h) names the unit.

use std::path::Path;
use std::process::Command;

use crate::program::{self, Rules};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Parts of drivedb.h's titles for what a drive wrote to its flash. Of some drives these attributes
/// come before the host's.
pub(crate) const OF_FLASH: [&str; 4] = ["NAND", "Flash", "SLC", "TLC"];

/// A drive's host counters and wear indicators.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Smart {
    /// Bytes written by the host, in the drive's granularity.
    pub host_written_bytes: Option<u64>,
    /// The used share of the rated life, in percent.
    pub used_percent: Option<u64>,
    /// Hours powered on.
    pub power_on_hours: Option<u64>,
}

/// Asks a drive; `None` where smartctl is missing or the device has no such counters.
#[must_use]
pub fn read(device: &Path, rules: Rules<'_>) -> Option<Smart> {
    let mut command = Command::new(program::find("smartctl", "smartmontools").ok()?);
    command.args(["--json", "--attributes"]).arg(device);
    // smartctl's exit code is a mask of findings; what it printed counts.
    parse(&program::run_to_any_end(command, rules).ok()?.stdout)
}

/// Parses smartctl's JSON; `None` if it holds none of the counters.
#[must_use]
pub fn parse(text: &str) -> Option<Smart> {
    let json: Value = serde_json::from_str(text).ok()?;
    let nvme = &json["nvme_smart_health_information_log"];
    let of_ata = || {
        let table = json["ata_smart_attributes"]["table"].as_array()?;
        let block_bytes = json["logical_block_size"].as_u64().unwrap_or(512);
        table.iter().find_map(|row| {
            let title = row["name"].as_str().filter(|title| counts_host_writes(title))?;
            let units = [("LBAs", block_bytes), ("32MiB", 32 << 20), ("GiB", 1 << 30)];
            let (_, unit) = units.into_iter().find(|(unit, _)| title.contains(unit))?;
            row["raw"]["value"].as_u64()?.checked_mul(unit)
        })
    };
    let smart = Smart {
        host_written_bytes: nvme["data_units_written"]
            .as_u64()
            .and_then(|units| units.checked_mul(512_000))
            .or_else(of_ata),
        used_percent: nvme["percentage_used"].as_u64(),
        power_on_hours: json["power_on_time"]["hours"].as_u64(),
    };
    (smart != Smart::default()).then_some(smart)
}

fn counts_host_writes(title: &str) -> bool {
    title.contains("Writ") && !OF_FLASH.iter().any(|part| title.contains(part))
}

#[cfg(test)]
mod tests;
