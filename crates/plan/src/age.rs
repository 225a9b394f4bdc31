//! The factor `age`: how a filesystem is used before the first phase, as stated data.
//!
//! The idea is that of Smith and Seltzer, "File System Aging" (SIGMETRICS 1997): an empty
//! filesystem lays files out as a used one no longer can. Like Geriatrix (Kadekodi, Nagarajan,
//! Ganger, ATC 2018) a profile names the sizes of files, how full the filesystem is and which files
//! are deleted; the volume of writes is given as a number, not as a time.

use super::factor::Factor;
use super::level_error::{LevelError, unknown};

/// How files come and go, for one kind of use.
#[derive(Debug, PartialEq, Eq)]
pub struct Profile {
    /// The name in plans.
    pub name: &'static str,
    /// One sentence for lists.
    pub description: &'static str,
    /// Raised with every change to what the profile or its generator does: a state aged by another
    /// version is a different state.
    pub version: u32,
    /// Sizes of files in bytes, by count: the quantiles 0/32 to 31/32, then 1 - 1/64, 1 - 1/128
    /// and so on to 1 - 1/4096, then the largest.
    pub sizes: [u64; 40],
    /// The mean number of files in a directory.
    pub directory_files: u64,
    /// Directories in a directory that has any.
    pub subdirectories: u64,
    /// The share of a new filesystem's free space that the files take, in percent.
    pub fill_percent: u64,
    /// The percentage of writes that append to a file.
    pub append_percent: u64,
    /// The percentage that overwrite a part of a file; all others make new files.
    pub overwrite_percent: u64,
    /// The percentage of new files that grow piece by piece, interleaved with others, with a sync
    /// in between.
    pub growing_percent: u64,
    /// The piece that such a file grows by, in bytes.
    pub piece_bytes: u64,
    /// The percentage of deleted files that are among the youngest tenth.
    pub young_percent: u64,
    /// How many times the files' data are written again after the first fill, without a target.
    pub turnovers: u32,
    /// The maximum of that with a target.
    pub most_turnovers: u32,
}

pub const PROFILES: [&Profile; 2] = [&DESKTOP, &MAIL];

/// The largest file of a desktop computer, in bytes.
const LARGEST: u64 = 256 << 20;

/// Sizes are log-normal with the median of 4 KB and the mean of 189 KB that Agrawal, Bolosky,
/// Douceur and Lorch, "A Five-Year Study of File-System Metadata" (FAST 2007), found on desktop
/// computers in 2004: sigma is sqrt(2 ln(189 / 4)) = 2.777, and the largest is chosen so that
/// straight lines between the quantiles keep the mean within 3 %. Directories hold the 10 files of
/// that study, and three directories in each make files lie some seven levels deep, as there.
///
/// The rest is assumed, not measured. At four fifths full, allocators begin to run short of long
/// free runs (Smith and Seltzer's filesystems were 70 to 80 % full). Half of the deleted files are
/// young, since most files die soon after they are made (Baker et al., "Measurements of a
/// Distributed File System", SOSP 1991). Growing, appended and overwritten files are a tenth each:
/// they are what fragments first (Conway et al., "File Systems Fated for Senescence", FAST 2017,
/// with appends and git pulls).
const DESKTOP: Profile = Profile {
    name: "desktop",
    description: "files as on desktop computers, 80 % full, rewritten twice",
    version: 1,
    sizes: [
        0, 23, 58, 105, 168, 248, 349, 474, 629, 820, 1054, 1340, 1691, 2120, 2646, 3295, 4096,
        5092, 6340, 7914, 9923, 12_516, 15_915, 20_454, 26_655, 35_375, 48_110, 67_667, 99_919,
        159_163, 290_045, 722_373, 1_621_329, 3_371_840, 6_611_883, 12_369_525, 22_262_697,
        38_786_511, 65_721_527, LARGEST,
    ],
    directory_files: 10,
    subdirectories: 3,
    fill_percent: 80,
    append_percent: 10,
    overwrite_percent: 10,
    growing_percent: 10,
    piece_bytes: 64 << 10,
    young_percent: 50,
    turnovers: 2,
    most_turnovers: 10,
};

/// Mailboxes and logs: every file grows by a few messages at a time, interleaved with all others.
/// This is assumed, not measured: it fragments most (Conway et al. also age by a mail server).
const MAIL: Profile = Profile {
    name: "mail",
    description: "the same, but every file grows in steps of 8 KiB",
    growing_percent: 100,
    piece_bytes: 8 << 10,
    ..DESKTOP
};

/// What a level of `age` other than `off` means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Age {
    /// How files come and go.
    pub profile: &'static Profile,
    /// The layout score at which ageing stops, 0 to 1.
    pub target: Option<f64>,
}

/// Reads a level: `off`, a profile, or `PROFILE to SCORE`.
pub(super) fn read(level: &str) -> Result<Option<Age>, LevelError> {
    if level == "off" {
        return Ok(None);
    }
    let age = || {
        let (name, target) = match level.split_once(" to ") {
            Some((name, score)) => (name.trim(), Some(score.trim().parse().ok()?)),
            None => (level, None),
        };
        let is_score = target.is_none_or(|score| (0.0..=1.0).contains(&score));
        let profile = PROFILES.into_iter().find(|profile| profile.name == name)?;
        is_score.then_some(Age { profile, target })
    };
    let names = PROFILES.map(|profile| profile.name).join(", ");
    let known = format!(
        "off, {names}, or one of them with a target layout score from 0 to 1: \"mail to 0.7\""
    );
    age().map(Some).ok_or_else(|| unknown(Factor::Age, level, &known))
}

#[cfg(test)]
mod tests;
