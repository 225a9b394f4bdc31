//! Names of levels, and of treatments by their levels.

use ssdlab_plan::{Factor, Levels, Schedule};

use super::words::plain;

/// A level, with its factor unless it is a name, which is clear by itself.
pub(super) fn level_name(factor: Factor, level: &str) -> String {
    match factor {
        Factor::Filesystem
        | Factor::Atime
        | Factor::Scheduler
        | Factor::Drive
        | Factor::Condition
        | Factor::Host
        | Factor::NodeFeature
        | Factor::Label => level.to_owned(),
        Factor::PowerFault | Factor::Layer if level != "none" => level.to_owned(),
        Factor::Layer => "no layer".to_owned(),
        Factor::Kernel => format!("Linux {level}"),
        Factor::FilesystemDriver => format!("driver {level}"),
        Factor::PowerLossProtection if level == "on" => "capacitors".to_owned(),
        Factor::PowerLossProtection => "no capacitors".to_owned(),
        Factor::Flush => format!("flushes {level}"),
        Factor::WearLevelling if level == "none" => "no levelling".to_owned(),
        Factor::WearLevelling => format!("{level} levelling"),
        _ => format!("{factor} {level}"),
    }
}

/// A level as the plan's answer calls it.
pub(super) fn labelled(schedule: &Schedule, factor: Factor, level: &str) -> String {
    schedule.answer.labels.get(level).cloned().unwrap_or_else(|| level_name(factor, level))
}

/// Each level, as [`level_name`] has it.
pub(super) fn level_names(levels: &Levels) -> Vec<String> {
    levels.0.iter().map(|(factor, level)| level_name(*factor, level)).collect()
}

/// Levels as the name of a treatment.
pub(super) fn named(levels: &Levels) -> String {
    plain(&level_names(levels).join(", "))
}

/// A treatment by only the levels in which it differs from others.
pub(super) fn label(schedule: &Schedule, levels: &Levels) -> String {
    named(&schedule.distinct(levels))
}
