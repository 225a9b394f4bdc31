//! How worn a drive says that it is: by sysfs, which anyone may read, and by its own logs, which
//! only root may ask for.
//!
//! Sources: JESD84-B51 for the life times of an eMMC (`DEVICE_LIFE_TIME_EST_TYP_A` and `_B`,
//! `PRE_EOL_INFO`); NVM Express Base Specification, SMART / Health Information; drivedb.h of
//! smartmontools for what the vendors' attributes of ATA drives count.

use std::fs;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::meter::smart;
use super::sysfs;

/// What an eMMC says of its spare blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SpareBlocks {
    /// Fewer than 80 % are used.
    Normal,
    /// 80 % are used.
    Warning,
    /// 90 % are used.
    Urgent,
}

/// How worn a drive says that it is. What it does not say is absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DriveWear {
    /// The used share of its life in percent, from and to; from 100 on it may be any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used_percent: Option<[u64; 2]>,
    /// The spare blocks of an eMMC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spare_blocks: Option<SpareBlocks>,
    /// The spare that is left, in percent of what there was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spare_percent: Option<u64>,
    /// Whether the drive warns of failure, or that it cannot be written any more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_failing: bool,
    /// Bytes that hosts wrote over its life.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_written_bytes: Option<u64>,
    /// Bytes that it wrote to its flash over its life.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flash_written_bytes: Option<u64>,
    /// What it wrote to its flash, by what hosts wrote, over its life.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amplification: Option<f64>,
    /// Hours powered on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power_on_hours: Option<u64>,
    /// Its temperature in degrees Celsius.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature_c: Option<i64>,
}

impl DriveWear {
    /// What sysfs tells, without root, of the disk of this name below `sys` in a folder.
    #[must_use]
    pub fn by_sysfs(root: &Path, name: &str) -> Self {
        let device = root.join("sys/block").join(name).join("device");
        let text = |file: &str| sysfs::read(&device.join(file)).unwrap_or_default();
        let spare_blocks = match hexadecimal(&text("pre_eol_info")) {
            Some(1) => Some(SpareBlocks::Normal),
            Some(2) => Some(SpareBlocks::Warning),
            Some(3) => Some(SpareBlocks::Urgent),
            _ => None,
        };
        Self {
            used_percent: life_time(&text("life_time")),
            spare_blocks,
            temperature_c: temperature_c(&device),
            ..Self::default()
        }
    }

    /// Adds what smartctl prints as JSON (`--json --info --health --attributes --log=devstat`).
    pub fn add_smartctl(&mut self, text: &str) {
        let Ok(json) = serde_json::from_str::<Value>(text) else { return };
        let basic = smart::parse(text).unwrap_or_default();
        let nvme = &json["nvme_smart_health_information_log"];
        let used = basic.used_percent.or_else(|| ata_used_percent(&json));
        self.used_percent = used.map(|used| [used, used]).or(self.used_percent);
        self.host_written_bytes = basic.host_written_bytes;
        self.power_on_hours = basic.power_on_hours;
        self.spare_percent = nvme["available_spare"]
            .as_u64()
            .or_else(|| json["spare_available"]["current_percent"].as_u64());
        // Temperature (bit 1) passes; the other bits are spare, reliability, read-only, backup.
        let warning = nvme["critical_warning"].as_u64().unwrap_or(0) & !0b10;
        self.is_failing = warning != 0 || json["smart_status"]["passed"].as_bool() == Some(false);
        self.temperature_c = json["temperature"]["current"].as_i64().or(self.temperature_c);
        self.flash_written_bytes = flash_written_bytes(&json);
        self.amplification = page_amplification(&json).or_else(|| {
            let (flash, host) = (self.flash_written_bytes?, self.host_written_bytes?);
            // Both are in units of up to 1 GiB.
            (host >= 100 << 30).then(|| flash as f64 / host as f64)
        });
    }
}

/// `0x01 0x02`: the life times of two kinds of cells, in tenths; the worse one counts.
fn life_time(text: &str) -> Option<[u64; 2]> {
    let tenths = text.split_whitespace().filter_map(hexadecimal);
    // 0 is undefined, 0x0b beyond the end.
    let tenths = tenths.filter(|tenth| (1..=11).contains(tenth)).max()?;
    Some([(tenths - 1) * 10, (tenths * 10).min(100)])
}

fn hexadecimal(text: &str) -> Option<u64> {
    u64::from_str_radix(text.trim().strip_prefix("0x")?, 16).ok()
}

/// The first sensor of a drive: `nvme` and `drivetemp` have a folder `hwmonN`, directly or in one
/// called `hwmon`, with thousandths of a degree.
fn temperature_c(device: &Path) -> Option<i64> {
    let entries = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries(device).chain(entries(&device.join("hwmon")));
    let mut sensors = folders
        .filter(|entry| entry.file_name().to_str().is_some_and(|name| name.starts_with("hwmon")))
        .map(|entry| entry.path().join("temp1_input"));
    let text = sensors.find_map(|sensor| sysfs::read(&sensor).ok())?;
    Some((text.parse::<i64>().ok()? + 500).div_euclid(1000))
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
    let counts_flash = |title: &str| {
        title.contains("Writ") && smart::OF_FLASH.iter().any(|part| title.contains(part))
    };
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
