//! The I/O schedulers, by their current and former names, and their tunables.

use std::collections::BTreeMap;

use super::factor::{DEFAULT, Factor, Levels};
use super::level_error::{LevelError, unknown};

/// I/O schedulers of the multi-queue block layer, by the kernel's names.
pub const SCHEDULERS: [&str; 4] = ["none", "mq-deadline", "bfq", "kyber"];

/// Today's name of a scheduler of the single-queue block layer, which Linux 5.0 removed.
pub fn todays_name(name: &str) -> Option<&'static str> {
    match name {
        "noop" => Some("none"),
        "deadline" => Some("mq-deadline"),
        "cfq" => Some("bfq"),
        _ => None,
    }
}

/// Reads a level of `scheduler`.
pub(super) fn read(level: &str) -> Result<&'static str, LevelError> {
    let today = todays_name(level).unwrap_or(level);
    SCHEDULERS
        .into_iter()
        .find(|name| *name == today)
        .ok_or_else(|| unknown(Factor::Scheduler, level, &SCHEDULERS.join(", ")))
}

/// Reads a level of `scheduler_tunables`: numbers by the names of their files in the folder
/// `queue/iosched` of a device. Only the device's kernel knows which of them its scheduler has.
pub(super) fn tunables(
    level: &str,
    scheduler: Option<&str>,
) -> Result<BTreeMap<String, u64>, LevelError> {
    if level == DEFAULT {
        return Ok(BTreeMap::new());
    }
    let is_legal = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_name = |name: &str| !name.is_empty() && name.chars().all(is_legal);
    let tunable = |word: &str| {
        let (name, value) = word.split_once('=').filter(|(name, _)| is_name(name))?;
        Some((name.to_owned(), value.parse().ok()?))
    };
    let words = level.split_whitespace();
    let tunables: Option<BTreeMap<String, u64>> = words.clone().map(tunable).collect();
    let once = tunables.filter(|tunables| !tunables.is_empty() && tunables.len() == words.count());
    let tunables = once.ok_or_else(|| {
        let known = "default, or tunables with numbers (\"read_expire=100 fifo_batch=8\")";
        unknown(Factor::SchedulerTunables, level, known)
    })?;
    if scheduler.is_none() {
        return Err(LevelError {
            factor: Factor::Scheduler,
            message: "no scheduler is named for these tunables".to_owned(),
            help: "name the scheduler: scheduler = \"mq-deadline\"".to_owned(),
        });
    }
    Ok(tunables)
}

/// Levels with the current names of schedulers.
pub(super) fn modern(levels: &Levels) -> Levels {
    let mut levels = levels.clone();
    if let Some(level) = levels.0.get_mut(&Factor::Scheduler)
        && let Some(today) = todays_name(level)
    {
        today.clone_into(level);
    }
    levels
}

#[cfg(test)]
mod tests;
