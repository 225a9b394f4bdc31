//! The words for what was written to a drive, which every form for people uses.

use ssdlab_host::cgroup_io::IoAccounting;
use ssdlab_host::cgroup_name::CgroupKind;
use ssdlab_host::wear::{DriveWear, SpareBlocks};
use ssdlab_host::whole_disk::DiskKind;
use ssdlab_plan::metric::Unit;
use ssdlab_report::{bytes, spoken};

use super::drive_writes::{
    CountedSince, DriveSinceBoot, ServiceRow, SinceBoot, WearAdvice, YearsLeft,
};
use super::life::{self, DAY_S, HOUR_S, LOWEST_RATING};

/// What no row has. What a cgroup wrote that is gone may be lost to its slice.
pub const UNSEEN: &str = "everything else: journal, metadata, swap, ended services";

pub fn kind(kind: DiskKind) -> &'static str {
    match kind {
        DiskKind::Nvme => "NVMe SSD",
        DiskKind::SataSsd => "SATA SSD",
        DiskKind::ScsiSsd => "SAS SSD",
        DiskKind::Usb => "USB drive",
        DiskKind::HardDisk => "hard disk",
        DiskKind::Emmc => "eMMC",
        DiskKind::SdCard => "SD card",
        DiskKind::Virtual => "virtual disk",
        DiskKind::Loop => "loop device",
        DiskKind::DeviceMapper => "device mapper",
        DiskKind::Array => "md array",
        DiskKind::Memory => "memory",
        DiskKind::Other => "block device",
    }
}

/// A number of bytes.
pub fn size(number: u64) -> String {
    bytes(number as f64)
}

/// A row's name and what it is.
pub fn writer(row: &ServiceRow) -> String {
    row.service_kind.with_word(row.service.clone())
}

/// What was written, since when, and how fast.
pub fn written(drive: &DriveSinceBoot) -> String {
    let all = size(drive.counter_bytes);
    if !drive.is_counting {
        return format!("{all} counted, and maybe more written: its counter stands still");
    }
    let since = match drive.since {
        // The kernel does not start again with another file.
        CountedSince::Boot if drive.device_kind == DiskKind::Loop => "to all its files since boot",
        CountedSince::Boot => "since boot",
        CountedSince::Connected => "since it was connected",
    };
    let Some(seconds) = drive.seconds else {
        return format!("{all} written {since}; no rate, as the machine slept");
    };
    let ago = ago(seconds);
    match drive.bytes_per_day.map(bytes) {
        _ if drive.counter_bytes == 0 => format!("nothing written {since}, {ago} ago"),
        None => format!("{all} written {since}, {ago} ago: too soon for a rate"),
        Some(rate) if seconds < DAY_S => {
            format!("{all} written {since}, {ago} ago: {rate} a day at that pace")
        }
        Some(rate) => format!("{all} written {since}, {ago} ago: {rate} a day"),
    }
}

/// A time in days, hours, minutes or seconds, rounded down.
fn ago(seconds: u64) -> String {
    let (number, unit) = match seconds {
        long if long >= 2 * DAY_S => (long / DAY_S, "day"),
        some if some >= 2 * HOUR_S => (some / HOUR_S, "hour"),
        short if short >= 120 => (short / 60, "minute"),
        shortest => (shortest, "second"),
    };
    format!("{number} {unit}{}", if number == 1 { "" } else { "s" })
}

/// What a drive tells of its wear; `None` where there is nothing to tell.
pub fn wear(found: &SinceBoot, drive: &DriveSinceBoot) -> Option<String> {
    let parts = told(&drive.wear);
    if drive.wear.used_percent.is_some() || drive.wear.host_written_bytes.is_some() {
        return Some(parts.join(", "));
    }
    let unknown = match drive.device_kind {
        DiskKind::SdCard => "an SD card does not tell it".to_owned(),
        DiskKind::Emmc => "this eMMC does not tell it".to_owned(),
        DiskKind::Nvme | DiskKind::SataSsd | DiskKind::ScsiSsd | DiskKind::Usb => {
            let can_ask = found.has_smartctl || drive.device_kind == DiskKind::Nvme;
            match (found.is_root, can_ask) {
                (true, true) => "the drive's own log cannot be read here".to_owned(),
                (true, false) => "install smartmontools, by which it is read".to_owned(),
                (false, can_ask) => {
                    let needs = if can_ask { "" } else { ", with smartmontools installed" };
                    format!("only root can read it: sudo ssdlab who {}{needs}", drive.device)
                }
            }
        }
        _ => return None,
    };
    let parts: Vec<String> = std::iter::once(unknown).chain(parts).collect();
    Some(parts.join("; "))
}

fn told(wear: &DriveWear) -> Vec<String> {
    let used = wear.used_percent.map(|used| match used {
        [from, _] if from >= 100 => "100 % used or more".to_owned(),
        [from, to] if from == to => format!("{from} % used"),
        [from, to] => format!("{from} to {to} % used"),
    });
    let spare = wear.spare_blocks.map(|spare| match spare {
        SpareBlocks::Normal => "spare blocks in order".to_owned(),
        SpareBlocks::Warning => "80 % of the spare blocks used".to_owned(),
        SpareBlocks::Urgent => "90 % of the spare blocks used".to_owned(),
    });
    let spare_percent = wear.spare_percent.filter(|left| *left < 100);
    let amplified = wear.amplification.map(|times| format!("{times:.1} times that to its flash"));
    [
        wear.is_failing.then(|| "the drive says that it is failing".to_owned()),
        used,
        spare,
        spare_percent.map(|left| format!("{left} % of its spare left")),
        wear.host_written_bytes.map(|all| format!("{} written in its life", size(all))),
        amplified,
        wear.temperature_c.map(|degrees| format!("{degrees}\u{a0}\u{b0}C")),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// How long a drive lasts, or why that is not said; `None` where there is nothing to say.
pub fn life(drive: &DriveSinceBoot) -> Option<String> {
    let rated = || drive.rated_bytes.map_or_else(String::new, size);
    Some(match (drive.life, drive.device_kind) {
        (Some(YearsLeft::RatingLeft { years }), _) => {
            format!("At this rate, what is left of its rated {} lasts {}.", rated(), span(years))
        }
        (Some(YearsLeft::Rating { years }), _) => {
            format!("At this rate, its rated {} last {} from new.", rated(), span(years))
        }
        (Some(YearsLeft::UsedShare { years }), _) => {
            format!("At this rate it lasts {} at least, by its own estimate.", span(years))
        }
        (Some(YearsLeft::LowestRating { years }), _) => format!(
            "Its rating is not known here. The lowest known, {LOWEST_RATING} times the size, would \
             last {} from new at this rate.",
            span(years)
        ),
        (None, DiskKind::Virtual) => {
            "What wears is a drive of the host, which this machine cannot see.".to_owned()
        }
        (None, DiskKind::HardDisk) => "Hard disks do not wear by writes.".to_owned(),
        (None, kind) if kind.is_layer() => return None,
        (None, kind) if life::wears(kind) && drive.seconds.is_some_and(|up| up < DAY_S) => {
            "Years are told after a day.".to_owned()
        }
        (None, _) => {
            let rate = drive.bytes_per_day.filter(|_| drive.seconds.is_some_and(|up| up >= DAY_S));
            let share = match rate? / (drive.size_bytes as f64) * 100.0 {
                small if small < 0.01 => "Less than 0.01 %".to_owned(),
                share => format!("{share:.2} %"),
            };
            format!("{share} of its size is written a day; its rating is not known.")
        }
    })
}

/// Years, as far as a rate may be extrapolated.
fn span(years: f64) -> String {
    if years >= 100.0 { "more than 100 years".to_owned() } else { spoken(Unit::Years, years) }
}

/// What is to be done.
pub fn advice(drive: &DriveSinceBoot) -> Option<&'static str> {
    match drive.advice {
        WearAdvice::NothingToDo if drive.life.is_some() => Some("Nothing, at this rate."),
        WearAdvice::NothingToDo => Some("Nothing now."),
        WearAdvice::SeeWhoWrites => Some("See what writes so much, and plan for another drive."),
        WearAdvice::Replace => Some("Copy what matters elsewhere, and replace the drive."),
        WearAdvice::Unknown => None,
    }
}

/// Why rows are missing, and what gives them.
pub fn uncounted(found: &SinceBoot) -> Option<String> {
    let rows = || found.devices.iter().flat_map(|drive| &drive.rows);
    let has_services = rows().any(|row| row.service_kind != CgroupKind::Group);
    Some(match found.accounting {
        IoAccounting::On if has_services && found.sees_part_of_cgroups => {
            "Only cgroups of this container are seen; others are in \"everything else\".".to_owned()
        }
        IoAccounting::On if has_services || rows().next().is_none() => return None,
        IoAccounting::On => "No service is counted by itself.".to_owned(),
        IoAccounting::Off => {
            let turn_on = found.turn_on.as_deref().unwrap_or_default();
            format!("Services are not counted. To count them: {turn_on}")
        }
        IoAccounting::NoController => {
            let remedy = found.turn_on.as_ref();
            let remedy = remedy.map_or_else(String::new, |says| format!(" To count them: {says}"));
            format!("Services are not counted: cgroup v2 has no io controller here.{remedy}")
        }
        IoAccounting::NoCgroup2 => "Services are not counted: no cgroup v2 is mounted.".to_owned(),
    })
}

/// What the largest living programs wrote.
pub fn living(found: &SinceBoot) -> Option<String> {
    let largest = found.living.programs.iter().take(3);
    let largest: Vec<String> =
        largest.map(|own| format!("{} {}", own.program, size(own.written_bytes))).collect();
    let whose = if found.is_root { "" } else { "only yours, " };
    let whose = format!("({whose}on all drives, since each started)");
    (!largest.is_empty()).then(|| format!("{} {whose}", largest.join(", ")))
}
