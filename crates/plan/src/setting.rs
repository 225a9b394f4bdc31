//! Factors whose levels are each filesystem's own.

use std::collections::BTreeSet;

use ssdlab_filesystem::{self as filesystem, Filesystem, Setting, SettingLevel};

use super::factor::{Factor, Levels};
use super::level_error::{LevelError, leave_out, unknown};

/// A level of such a factor, as the treatment's filesystem defines it.
#[derive(Debug, Clone, Copy)]
pub struct ChosenLevel {
    pub factor: Factor,
    /// The filesystem's definition of the factor.
    pub setting: &'static Setting,
    /// The filesystem's definition of the level.
    pub level: &'static SettingLevel,
}

type Of = fn(&'static Filesystem) -> &'static Setting;

const FACTORS: [(Factor, Of); 2] = [
    (Factor::Checksums, |filesystem| &filesystem.checksums),
    (Factor::Compression, |filesystem| &filesystem.compression),
];

/// Reads the levels of these factors.
pub(super) fn read(
    levels: &Levels,
    filesystem: Option<&'static Filesystem>,
) -> Result<Vec<ChosenLevel>, LevelError> {
    let written = |(factor, of): (Factor, Of)| Some((factor, of, levels.0.get(&factor)?));
    let chosen: Vec<ChosenLevel> = FACTORS
        .into_iter()
        .filter_map(written)
        .map(|(factor, of, level)| choose(factor, of, level, filesystem))
        .collect::<Result<_, _>>()?;
    check_together(&chosen, filesystem)?;
    Ok(chosen)
}

fn choose(
    factor: Factor,
    of: Of,
    level: &str,
    filesystem: Option<&'static Filesystem>,
) -> Result<ChosenLevel, LevelError> {
    if filesystem::ALL.iter().all(|filesystem| of(filesystem).find(level).is_none()) {
        let known: BTreeSet<&str> =
            filesystem::ALL.iter().flat_map(|filesystem| of(filesystem).names()).collect();
        let known = known.into_iter().collect::<Vec<_>>().join(", ");
        return Err(unknown(factor, level, &known));
    }
    let Some(filesystem) = filesystem else {
        return Err(LevelError {
            factor,
            message: format!("the levels of `{factor}` depend on the filesystem"),
            help: "name the filesystem: filesystem = \"btrfs\"".to_owned(),
        });
    };
    let setting = of(filesystem);
    let name = filesystem.name;
    let has =
        if setting.levels.is_empty() { "none".to_owned() } else { setting.names().join(", ") };
    let found = setting.find(level).ok_or_else(|| LevelError {
        factor,
        message: format!("{name} has no level `{level}` of `{factor}`; it has {has}"),
        help: leave_out(name, &[(factor, level)]),
    })?;
    Ok(ChosenLevel { factor, setting, level: found })
}

/// Refuses settings that the filesystem's driver does not support together.
fn check_together(
    chosen: &[ChosenLevel],
    filesystem: Option<&Filesystem>,
) -> Result<(), LevelError> {
    let hindrance = chosen.iter().find(|chosen| chosen.level.hinders_compression);
    let compression = chosen
        .iter()
        .find(|chosen| chosen.factor == Factor::Compression && chosen.level.name != "off");
    let (Some(one), Some(other), Some(filesystem)) = (hindrance, compression, filesystem) else {
        return Ok(());
    };
    let levels = [(one.factor, one.level.name), (other.factor, other.level.name)];
    Err(LevelError {
        factor: other.factor,
        message: format!(
            "{} does not compress with {} = {}",
            filesystem.name, one.factor, one.level.name
        ),
        help: leave_out(filesystem.name, &levels),
    })
}

#[cfg(test)]
mod tests;
