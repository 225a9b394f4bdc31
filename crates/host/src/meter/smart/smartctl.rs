//! A drive's own logs, through `smartctl --json`.
//!
//! Source: drivedb.h of smartmontools. ATA attributes and their units are vendor-specific: a count
//! of writes is read only where that database names the unit.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::nvme;
use crate::program::{self, Rules};
use crate::wear::{self, DriveWear};

/// Parts of drivedb.h's titles for what a drive wrote to its flash. Of some drives these attributes
/// come before the host's.
const OF_FLASH: [&str; 4] = ["NAND", "Flash", "SLC", "TLC"];

/// Asks a drive; `None` where smartctl is missing or the device tells nothing.
pub(super) fn read(device: &Path, rules: Rules<'_>) -> Option<DriveWear> {
    let mut command = Command::new(program::find("smartctl", "smartmontools").ok()?);
    command.args(["--json", "--info", "--health", "--attributes", "--log=devstat"]).arg(device);
    // smartctl's exit code is a mask of findings; what it printed counts.
    parse(&program::run_to_any_end(command, rules).ok()?.stdout)
}

/// Parses smartctl's JSON; `None` if it tells nothing.
pub fn parse(text: &str) -> Option<DriveWear> {
    let json: Value = serde_json::from_str(text).ok()?;
    let log = &json["nvme_smart_health_information_log"];
    let of_log = |name: &str| log[name].as_u64();
    let used = of_log("percentage_used").or_else(|| ata_used_percent(&json));
    let spare_percent = match of_log("available_spare") {
        Some(left) => nvme::spare_percent(left, of_log("available_spare_threshold").unwrap_or(0)),
        None => json["spare_available"]["current_percent"].as_u64(),
    };
    let host_written_bytes = of_log("data_units_written")
        .and_then(nvme::host_written_bytes)
        .or_else(|| ata_host_written_bytes(&json));
    let flash_written_bytes = flash_written_bytes(&json);
    let told = DriveWear {
        used_percent: used.map(|used| [used, used]),
        spare_blocks: None,
        spare_percent,
        is_failing: of_log("critical_warning").is_some_and(nvme::is_failing)
            || json["smart_status"]["passed"].as_bool() == Some(false),
        host_written_bytes,
        flash_written_bytes,
        amplification: page_amplification(&json)
            .or_else(|| wear::amplification(flash_written_bytes, host_written_bytes)),
        power_on_hours: json["power_on_time"]["hours"].as_u64(),
        temperature_c: json["temperature"]["current"].as_i64(),
    };
    (told != DriveWear::default()).then_some(told)
}

/// What hosts wrote to an ATA drive.
fn ata_host_written_bytes(json: &Value) -> Option<u64> {
    let block_bytes = json["logical_block_size"].as_u64().unwrap_or(512);
    let units = [("LBAs", block_bytes), ("32MiB", 32 << 20), ("GiB", 1 << 30)];
    rows(json).filter(|(title, _)| title.contains("Writ") && !of_flash(title)).find_map(
        |(title, row)| {
            let (_, unit) = units.into_iter().find(|(unit, _)| title.contains(unit))?;
            row["raw"]["value"].as_u64()?.checked_mul(unit)
        },
    )
}

fn of_flash(title: &str) -> bool {
    OF_FLASH.iter().any(|part| title.contains(part))
}

fn rows(json: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let rows = json["ata_smart_attributes"]["table"].as_array().into_iter().flatten();
    rows.filter_map(|row| Some((row["name"].as_str()?, row)))
}

/// The used share of an ATA drive's life: by the standard's statistics, else by a vendor's
/// attribute whose normalised value is what is left. `SanDisk` counts another way under one of
/// these names, and only Samsung's levelling count is of its life.
fn ata_used_percent(json: &Value) -> Option<u64> {
    let pages = json["ata_device_statistics"]["pages"].as_array().into_iter().flatten();
    let mut statistics = pages.filter_map(|page| page["table"].as_array()).flatten();
    let standard = statistics.find(|row| row["name"] == "Percentage Used Endurance Indicator");
    let standard = standard
        .and_then(|row| row["value"].as_u64())
        .or_else(|| json["endurance_used"]["current_percent"].as_u64());
    let model = json["model_name"].as_str().unwrap_or_default().to_ascii_lowercase();
    let is_left = |name: &str, row: &Value| match name {
        "Percent_Lifetime_Remain" | "SSD_Life_Left" => true,
        "Media_Wearout_Indicator" => row["id"] == 233,
        "Wear_Leveling_Count" => model.starts_with("samsung"),
        _ => false,
    };
    standard.or_else(|| {
        let (_, row) = rows(json).find(|(name, row)| is_left(name, row))?;
        100_u64.checked_sub(row["value"].as_u64()?)
    })
}

/// What an ATA drive wrote to its flash, where smartctl's database names the unit. Some count
/// cells with one bit and with three apart.
fn flash_written_bytes(json: &Value) -> Option<u64> {
    let units = [("32MiB", 32 << 20), ("GiB", 1 << 30)];
    let counts_flash = |title: &str| title.contains("Writ") && of_flash(title);
    let counted = rows(json).filter(|(title, _)| counts_flash(title)).filter_map(|(title, row)| {
        let (_, unit) = units.into_iter().find(|(unit, _)| title.contains(unit))?;
        Some((title, row["raw"]["value"].as_u64()?.checked_mul(unit)?))
    });
    let counted: Vec<(&str, u64)> = counted.collect();
    let is_part = |title: &str| title.contains("SLC") || title.contains("TLC");
    let all = counted.iter().find(|(title, _)| !is_part(title)).map(|(_, bytes)| *bytes);
    let parts: Vec<u64> =
        counted.iter().filter(|(title, _)| is_part(title)).map(|(_, bytes)| *bytes).collect();
    // One of two parts is not the whole.
    all.or_else(|| (parts.len() == 2).then(|| parts.iter().sum()))
}

/// The amplification of Micron's and Crucial's drives, which count pages that hosts and that the
/// drive itself had programmed (technical note TN-FD-23).
fn page_amplification(json: &Value) -> Option<f64> {
    let count = |parts: &[&str]| {
        let mut found = rows(json).filter(|(title, _)| parts.contains(title));
        found.next()?.1["raw"]["value"].as_u64()
    };
    let host = count(&["Host_Program_Page_Count"])?;
    let own = count(&["FTL_Program_Page_Count", "Bckgnd_Program_Page_Cnt"])?;
    (host > 0).then(|| (host as f64 + own as f64) / host as f64)
}

#[cfg(test)]
mod tests;
