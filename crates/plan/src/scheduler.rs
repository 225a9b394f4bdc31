//! The I/O schedulers, by their current and former names, their tunables, and the queue they serve.

use std::collections::BTreeMap;

use super::factor::{DEFAULT, Factor, Levels};
use super::level_error::{LevelError, unknown};

/// I/O schedulers of the multi-queue block layer, by the kernel's names.
pub const SCHEDULERS: [&str; 4] = ["none", "mq-deadline", "bfq", "kyber"];

/// Attributes of a device's queue that can be put back exactly, and the largest value of each.
pub(super) const QUEUE: [(&str, u64); 5] = [
    ("nr_requests", u32::MAX as u64),
    ("read_ahead_kb", u32::MAX as u64),
    ("nomerges", 2),
    ("rq_affinity", 2),
    ("add_random", 1),
];

/// The one that does nothing on one processor.
pub(super) const OF_SEVERAL_PROCESSORS: &str = "rq_affinity";

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
    let is_legal = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_name = |name: &str| !name.is_empty() && name.chars().all(is_legal);
    let tunables = numbers(level, is_name).ok_or_else(|| {
        let known = "default, or tunables with numbers (\"read_expire=100 fifo_batch=8\")";
        unknown(Factor::SchedulerTunables, level, known)
    })?;
    if scheduler.is_none() && !tunables.is_empty() {
        return Err(LevelError {
            factor: Factor::Scheduler,
            message: "no scheduler is named for these tunables".to_owned(),
            help: "name the scheduler: scheduler = \"mq-deadline\"".to_owned(),
        });
    }
    Ok(tunables)
}

/// Reads a level of `queue`.
pub(super) fn queue(level: &str) -> Result<BTreeMap<String, u64>, LevelError> {
    let is_known = |(name, value): (&String, &u64)| {
        QUEUE.iter().any(|(known, most)| known == name && value <= most)
    };
    let read = numbers(level, |_| true).filter(|numbers| numbers.iter().all(is_known));
    read.ok_or_else(|| unknown(Factor::Queue, level, &queue_levels()))
}

/// The levels of `queue`, for people.
pub(super) fn queue_levels() -> String {
    let ranges = QUEUE.map(|(name, most)| match most {
        1 | 2 => format!("{name} (0 to {most})"),
        _ => name.to_owned(),
    });
    format!("{DEFAULT}, or {} with numbers", ranges.join(", "))
}

/// Numbers by name, separated by spaces, each name once; none of the default.
fn numbers(level: &str, is_name: impl Fn(&str) -> bool) -> Option<BTreeMap<String, u64>> {
    if level == DEFAULT {
        return Some(BTreeMap::new());
    }
    let number = |word: &str| {
        let (name, value) = word.split_once('=').filter(|(name, _)| is_name(name))?;
        Some((name.to_owned(), value.parse().ok()?))
    };
    let words = level.split_whitespace();
    let numbers: BTreeMap<String, u64> = words.clone().map(number).collect::<Option<_>>()?;
    (!numbers.is_empty() && numbers.len() == words.count()).then_some(numbers)
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
