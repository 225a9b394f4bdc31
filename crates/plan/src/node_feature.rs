//! The features of nodes: words that the administrator of Slurm gives to them.

use super::factor::Factor;
use super::level_error::LevelError;

/// The prefix of the feature that names a node's drive.
pub(super) const DRIVE: &str = "ssd=";

/// Checks a level of `node_feature`. Other characters have a meaning in Slurm's feature
/// expressions.
pub(super) fn read(level: &str) -> Result<(), LevelError> {
    let is_legal = |c: char| c.is_ascii_alphanumeric() || "_-.+=".contains(c);
    if !level.is_empty() && level.len() <= 64 && level.chars().all(is_legal) {
        return Ok(());
    }
    Err(LevelError {
        factor: Factor::NodeFeature,
        message: format!("`{level}` is not a node feature"),
        help: "use a node feature from slurm.conf: letters, digits and `_ - . + =`".to_owned(),
    })
}
