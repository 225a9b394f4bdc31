//! The I/O schedulers, by today's names and by those of old.

use super::factor::Factor;
use super::setup::{LevelError, unknown};

/// I/O schedulers of the multi-queue block layer, by the kernel's names.
pub const SCHEDULERS: [&str; 4] = ["none", "mq-deadline", "bfq", "kyber"];

/// Today's name of a scheduler of the single-queue block layer, which Linux 5.0 removed.
#[must_use]
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
        .ok_or_else(|| unknown(Factor::Scheduler, level, "none, mq-deadline, bfq, kyber"))
}
