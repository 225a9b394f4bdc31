//! How worn a drive says that it is: by sysfs, which anyone may read, and by its own log
//! ([`super::meter::smart`]), which only root may ask for.
//!
//! Source: JESD84-B51 for the life times of an eMMC (`DEVICE_LIFE_TIME_EST_TYP_A` and `_B`,
//! `PRE_EOL_INFO`).

use std::fs;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

    /// Adds what the drive's own log says, where that says more.
    pub fn add(&mut self, log: &Self) {
        *self = Self {
            used_percent: log.used_percent.or(self.used_percent),
            spare_blocks: log.spare_blocks.or(self.spare_blocks),
            temperature_c: log.temperature_c.or(self.temperature_c),
            ..log.clone()
        };
    }
}

/// What a drive wrote to its flash by what hosts wrote, if that is enough for counts in units of up
/// to 1 GiB.
pub(crate) fn amplification(flash_bytes: Option<u64>, host_bytes: Option<u64>) -> Option<f64> {
    let (flash, host) = (flash_bytes?, host_bytes?);
    (host >= 100 << 30).then(|| flash as f64 / host as f64)
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

#[cfg(test)]
mod tests;
