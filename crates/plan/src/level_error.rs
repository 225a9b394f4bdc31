//! Errors in the levels of a treatment.

use ssdlab_quantity::did_you_mean;

use super::factor::Factor;

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

/// An unknown level of a factor; `known` are its levels.
pub(super) fn unknown(factor: Factor, level: &str, known: &str) -> LevelError {
    LevelError {
        factor,
        message: format!("`{level}` is not a level of `{factor}`"),
        help: format!("{}`{factor}` can be: {known}", did_you_mean(level, known.split([' ', ',']))),
    }
}

/// What to do about a combination that a filesystem does not support.
pub(super) fn leave_out(filesystem: &str, levels: &[(Factor, &str)]) -> String {
    let named = levels.iter().map(|(factor, level)| format!("{factor} = \"{level}\""));
    let levels = named.collect::<Vec<_>>().join(", ");
    format!("exclude the combination: exclude = [{{ filesystem = \"{filesystem}\", {levels} }}]")
}
