//! How long a drive lasts at its rate, and what is to be done.
//!
//! Years are computed only over a day or more, and only from what is known: the maker's rating, or
//! what the drive itself says that is used.

use ssdlab_host::wear::{DriveWear, SpareBlocks};
use ssdlab_host::whole_disk::DiskKind;

use super::drive_writes::{WearAdvice, YearsLeft};

/// The shortest time, in s, over which bytes are extrapolated to a day, and to years.
pub const HOUR_S: u64 = 3600;
pub const DAY_S: u64 = 86_400;

const DAYS_PER_YEAR: f64 = 365.25;

/// The lowest rating known here, in sizes of the drive: 200 TB for the Intel 660p of 1 TB
/// (`AnandTech`, 7 August 2018), which the drive file `qlc` is modelled on.
pub const LOWEST_RATING: u64 = 200;

/// A drive that lasts so many years longer needs nothing.
const ENOUGH_YEARS: f64 = 5.0;

/// From which used share on a drive is worn.
const WORN_PERCENT: u64 = 100;
const AGED_PERCENT: u64 = 80;

/// How models begin whose rating is known, their rating in TB, and its source. Those of the shipped
/// drive files have the evidence there.
const RATED: [(&str, u64, &str); 8] = [
    ("Samsung SSD 970 PRO 512GB", 600, "HotHardware; `970-pro`"),
    ("Samsung SSD 970 EVO Plus 1TB", 600, "cdrinfo.com, 22 January 2019; `tlc-dram`"),
    ("Samsung SSD 990 PRO 2TB", 1200, "`tlc-gen4`"),
    ("WD Blue SN570 1TB", 600, "ssdwiki; `tlc-dramless`"),
    ("CT2000T500SSD8", 1200, "pcgamesn.com; `tlc-2023`"),
    ("INTEL SSDPEKNW010T8", 200, "AnandTech, 7 August 2018; `qlc`"),
    ("INTEL SSDPEDMD016T4", 29_200, "Intel, data sheet 330566-005; `datacenter`"),
    ("SAMSUNG MZQLB1T9HAJR", 2_733, "Samsung, data sheet of January 2018; `datacenter-tlc`"),
];

pub fn rated_bytes(model: &str) -> Option<u64> {
    let (_, terabytes, _) = RATED.iter().find(|(start, ..)| model.starts_with(start))?;
    Some(terabytes * 1_000_000_000_000)
}

/// Bytes by the day, if they were counted for an hour at least.
pub fn per_day(bytes: u64, seconds: Option<u64>) -> Option<f64> {
    let seconds = seconds.filter(|seconds| *seconds >= HOUR_S)?;
    Some(bytes as f64 * DAY_S as f64 / seconds as f64)
}

/// Whether a kind of drive is known to wear by writes, and can be rated for them.
pub fn wears(kind: DiskKind) -> bool {
    matches!(kind, DiskKind::Nvme | DiskKind::SataSsd | DiskKind::ScsiSsd)
}

/// What the life of a drive follows from.
#[derive(Debug, Clone, Copy)]
pub struct LifeInputs<'a> {
    pub kind: DiskKind,
    pub size_bytes: u64,
    pub seconds: Option<u64>,
    pub bytes_per_day: Option<f64>,
    pub rated_bytes: Option<u64>,
    pub wear: &'a DriveWear,
}

/// How long it lasts at this rate, if that can be said.
pub fn years_left(inputs: LifeInputs<'_>) -> Option<YearsLeft> {
    let LifeInputs { kind, size_bytes, seconds, bytes_per_day, rated_bytes, wear } = inputs;
    let per_day = bytes_per_day.filter(|rate| *rate > 0.0)?;
    if !wears(kind) || seconds.is_none_or(|seconds| seconds < DAY_S) {
        return None;
    }
    let years = |bytes: f64| bytes.max(0.0) / per_day / DAYS_PER_YEAR;
    // The share is a whole number, however it was rounded: what is left is at least this, and at
    // most this.
    let of_used = || {
        let [_, used] = wear.used_percent?;
        let written = wear.host_written_bytes.filter(|written| *written > 0)? as f64;
        let left = |used: f64| if used > 0.0 { written / used * (100.0 - used) } else { f64::MAX };
        Some([left(used as f64 + 1.0), left(used as f64 - 1.0)])
    };
    let by_used = || of_used().map(|[least, _]| YearsLeft::UsedShare { years: years(least) });
    match (rated_bytes, wear.host_written_bytes) {
        (Some(rated), Some(written)) => {
            let left = rated as f64 - written as f64;
            // The drive may wear faster than its rating has it.
            let wears_faster = of_used().is_some_and(|[_, most]| most < left);
            let by_rating = YearsLeft::RatingLeft { years: years(left) };
            by_used().filter(|_| wears_faster).or(Some(by_rating))
        }
        (Some(rated), None) => Some(YearsLeft::Rating { years: years(rated as f64) }),
        (None, _) => by_used().or_else(|| {
            let least = size_bytes as f64 * LOWEST_RATING as f64;
            Some(YearsLeft::LowestRating { years: years(least) })
        }),
    }
}

/// What is to be done.
pub fn advice(kind: DiskKind, wear: &DriveWear, life: Option<YearsLeft>) -> WearAdvice {
    let used = wear.used_percent.map_or(0, |[from, _]| from);
    if wear.is_failing || wear.spare_blocks == Some(SpareBlocks::Urgent) || used >= WORN_PERCENT {
        return WearAdvice::Replace;
    }
    if used >= AGED_PERCENT || wear.spare_blocks == Some(SpareBlocks::Warning) {
        return WearAdvice::SeeWhoWrites;
    }
    match life {
        Some(
            YearsLeft::RatingLeft { years }
            | YearsLeft::Rating { years }
            | YearsLeft::UsedShare { years },
        ) if years < ENOUGH_YEARS => WearAdvice::SeeWhoWrites,
        // A drive is probably rated for more than the lowest.
        Some(YearsLeft::LowestRating { years }) if years < ENOUGH_YEARS => WearAdvice::Unknown,
        Some(_) => WearAdvice::NothingToDo,
        None if kind == DiskKind::HardDisk || wear.used_percent.is_some() => {
            WearAdvice::NothingToDo
        }
        None => WearAdvice::Unknown,
    }
}

#[cfg(test)]
mod tests;
