//! Errors in the levels of a treatment.

use ssdlab_quantity::did_you_mean;

use super::factor::{Factor, Levels};

/// An invalid level, or levels that exclude each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LevelError {
    /// The factor whose level is at fault.
    pub factor: Factor,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
}

pub(super) fn unknown(factor: Factor, level: &str, known: &str) -> LevelError {
    LevelError {
        factor,
        message: format!("`{level}` is not a level of `{factor}`"),
        help: format!("{}`{factor}` can be: {known}", did_you_mean(level, known.split([' ', ',']))),
    }
}

/// The levels of a factor that is there or not.
pub(super) const SWITCH: [(&str, bool); 2] = [("on", true), ("off", false)];

/// The value of a factor's level, if it has one: `known` are all, by name.
pub(super) fn one_of<T: Copy>(
    levels: &Levels,
    factor: Factor,
    known: &[(&str, T)],
) -> Result<Option<T>, LevelError> {
    let Some(level) = levels.0.get(&factor) else { return Ok(None) };
    let found = known.iter().find(|(name, _)| name == level);
    let or = if factor.is_simulated() { " or " } else { ", " };
    let (_, value) = found.ok_or_else(|| unknown(factor, level, &named(known, or)))?;
    Ok(Some(*value))
}

/// The names of levels.
pub(super) fn named<T>(known: &[(&str, T)], between: &str) -> String {
    known.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(between)
}

/// What to do about a combination that a filesystem does not support.
pub(super) fn leave_out(filesystem: &str, levels: &[(Factor, &str)]) -> String {
    let named = levels.iter().map(|(factor, level)| format!("{factor} = \"{level}\""));
    let levels = named.collect::<Vec<_>>().join(", ");
    format!("exclude the combination: exclude = [{{ filesystem = \"{filesystem}\", {levels} }}]")
}
