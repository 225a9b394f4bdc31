//! Ages a filesystem: churn in rounds, and the layout score of the files after each.

use std::fs::File;
use std::path::Path;

use rustix::fs::statvfs;
use ssdlab_host::extents::extents;
use ssdlab_host::missing::if_there;
use ssdlab_plan::Age;

use super::WorkloadError;
use super::player::Player;
use super::synthetic::churn::{Churn, ROUNDS_PER_TURNOVER};

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AgeingResult {
    /// The layout score of all files; `None` if the filesystem does not report block locations.
    pub layout_score: Option<f64>,
    /// The number of rounds, the first four of which fill the filesystem.
    pub rounds: u32,
    /// Bytes passed to write(2).
    pub written_bytes: u64,
    /// Files that remain.
    pub files: u64,
    /// Whether the requested score was reached; `None` if none was requested or it is unknown.
    pub is_at_target: Option<bool>,
}

/// Ages the filesystem of the player's directory, at `path`, up to the target or the end of the
/// profile.
pub(super) fn age(
    age: Age,
    seed: u64,
    path: &Path,
    player: &mut Player<'_>,
) -> Result<AgeingResult, WorkloadError> {
    let error = WorkloadError::operation("look at", ".");
    let space = statvfs(path).map_err(error)?;
    let free_bytes = space.f_bavail.saturating_mul(space.f_frsize);
    let mut churn = Churn::new(age.profile, free_bytes, seed);
    let turnovers = match age.target {
        Some(_) => age.profile.most_turnovers,
        None => age.profile.turnovers,
    };
    // The first turnover fills it.
    let last = ROUNDS_PER_TURNOVER * (1 + turnovers);
    for round in 1.. {
        player.perform(&churn.round())?;
        let score = layout_score(path, churn.paths(), space.f_frsize)?;
        let is_low = age.target.and_then(|target| Some(score? <= target));
        if round == last || (round > ROUNDS_PER_TURNOVER && is_low == Some(true)) {
            return Ok(AgeingResult {
                layout_score: score,
                rounds: round,
                written_bytes: churn.written_bytes(),
                files: churn.paths().count() as u64,
                is_at_target: is_low,
            });
        }
    }
    unreachable!("there is a last round")
}

/// The layout score (Smith and Seltzer, "File System Aging", SIGMETRICS 1997): the share of blocks,
/// except each file's first, that directly follow their predecessor. `None` if the filesystem does
/// not report block locations, or if no file has two blocks.
pub fn layout_score<'a>(
    folder: &Path,
    files: impl Iterator<Item = &'a str>,
    block_bytes: u64,
) -> Result<Option<f64>, WorkloadError> {
    let (mut behind, mut blocks) = (0, 0);
    for path in files {
        let error = |cause| WorkloadError::Operation {
            step: "find the blocks of",
            path: path.to_owned(),
            cause,
        };
        // A growing file that has no bytes yet is not there.
        let Some(file) = if_there(File::open(folder.join(path))).map_err(error)? else { continue };
        let Some(places) = extents(&file, block_bytes).map_err(error)? else { return Ok(None) };
        let own: u64 = places.iter().map(|place| (place.end - place.start) / block_bytes).sum();
        let breaks = places.windows(2).filter(|pair| pair[0].end != pair[1].start).count() as u64;
        let pairs = own.saturating_sub(1);
        blocks += pairs;
        behind += pairs.saturating_sub(breaks);
    }
    Ok((blocks > 0).then(|| behind as f64 / blocks as f64))
}
