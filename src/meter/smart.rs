//! A drive's own counters, through `smartctl --json`.
//!
//! Source: NVM Express Base Specification, SMART / Health Information log: a data unit is 1000
//! blocks of 512 bytes, rounded up. ATA attributes and their units are vendor-specific: the count
//! of writes is read only where smartctl's database names the unit.

use std::path::Path;
use std::process::Command;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::host::program::{self, Rules};

/// A drive's host counters and wear indicators.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Smart {
    /// Bytes the host has written, as coarse as the drive counts them.
    pub host_written_bytes: Option<u64>,
    /// Share of the rated life that is used, in percent.
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
            let title = row["name"].as_str().filter(|title| title.contains("Writ"))?;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// linux-nvme/nvme-cli#1745: a data unit is 512,000 bytes, not 512.
    #[test]
    fn nvme_data_units_are_thousands_of_blocks() {
        let text = r#"{"nvme_smart_health_information_log":
            {"data_units_written": 3, "percentage_used": 7}, "power_on_time": {"hours": 99}}"#;
        let smart = parse(text).unwrap();
        assert_eq!(smart.host_written_bytes, Some(1_536_000));
        assert_eq!((smart.used_percent, smart.power_on_hours), (Some(7), Some(99)));
    }

    #[test]
    fn ata_writes_are_read_in_the_unit_that_is_named() {
        let of = |name: &str| {
            let text = format!(
                r#"{{"logical_block_size": 512, "ata_smart_attributes":
                {{"table": [{{"id": 241, "name": "{name}", "raw": {{"value": 10}}}}]}}}}"#
            );
            parse(&text).and_then(|smart| smart.host_written_bytes)
        };
        assert_eq!(of("Total_LBAs_Written"), Some(5120));
        assert_eq!(of("Host_Writes_32MiB"), Some(10 << 25));
        assert_eq!(of("Lifetime_Writes_GiB"), Some(10 << 30));
        assert_eq!(of("Unknown_Attribute"), None);
        assert_eq!(parse(r#"{"smartctl": {"exit_status": 2}}"#), None);
        assert_eq!(parse("not json"), None);
    }
}
