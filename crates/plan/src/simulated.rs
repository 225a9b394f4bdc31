//! The simulated machine of the virtual lab, as a treatment's levels describe it.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_flash::specification::WriteCache;
use ssdlab_flash::{Condition, Flush, Levelling, PowerFault, Specification, presets};

use super::factor::{Factor, Levels};
use super::host_model::{self, HOSTS};
use super::layer::{self, Layer};
use super::level_error::{LevelError, SWITCH, one_of, unknown};

/// The drive of treatments that name none: the most common kind of SSD today.
pub const DEFAULT_DRIVE: &str = "sata-tlc";
/// The rest of the default simulated machine.
const DEFAULT_CONDITION: &str = "purged";
const DEFAULT_HOST: &str = "modern-2020s";

pub(super) const FLUSHES: [(&str, Flush); 2] =
    [("honest", Flush::Honest), ("ignored", Flush::Ignored)];
pub(super) const POWER_FAULTS: [(&str, PowerFault); 2] =
    [("none", PowerFault::None), ("lost map", PowerFault::LostMap)];

/// The machine that the virtual lab simulates.
#[derive(Debug, Clone)]
pub struct SimulatedMachine {
    /// The drive: a preset's name or a file.
    pub drive: String,
    /// The state it is brought into first.
    pub condition: Condition,
    /// How the drive spreads erases, instead of as its file says.
    pub levelling: Option<Levelling>,
    /// Whether the drive can save its write cache, instead of as its file says.
    pub power_loss_protection: Option<bool>,
    /// What a flush does, instead of as the drive's file says.
    pub flush: Option<Flush>,
    /// What else a power cut may do, instead of as the drive's file says.
    pub power_fault: Option<PowerFault>,
    /// What lies between the drive and the filesystem.
    pub layer: Option<Layer>,
    /// The computer: a name or a file.
    pub host: String,
    /// The kernel that the guest runs.
    pub kernel: KernelLevel,
}

/// A model of which a treatment's simulated machine is made, by the level that names it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Model {
    /// The drive.
    Drive(String),
    /// The computer.
    Host(String),
}

impl Model {
    /// The level that names it.
    pub fn level(&self) -> &str {
        match self {
            Self::Drive(level) | Self::Host(level) => level,
        }
    }
}

impl SimulatedMachine {
    pub fn models(&self) -> [Model; 2] {
        [Model::Drive(self.drive.clone()), Model::Host(self.host.clone())]
    }
}

/// The lab kernel of a treatment.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum KernelLevel {
    /// The one that a run uses if no level names another.
    #[default]
    Default,
    /// One in the cache, by the first parts of its version.
    Version(String),
    /// A program.
    File(PathBuf),
}

/// Whether a level of `drive` or `host` names a file, not a shipped one.
pub fn names_file(level: &str) -> bool {
    level.contains('/') || level.contains('.')
}

impl Factor {
    /// Whether a level of this factor names a file; a kernel's version has dots, too.
    pub fn names_file(self, level: &str) -> bool {
        match self {
            Self::Drive | Self::Host => names_file(level),
            Self::Kernel => level.contains('/'),
            _ => false,
        }
    }
}

impl SimulatedMachine {
    /// Reads the levels that describe it.
    pub fn new(levels: &Levels) -> Result<Self, LevelError> {
        let level = |factor, default| levels.0.get(&factor).map_or(default, String::as_str);
        let drive = level(Factor::Drive, DEFAULT_DRIVE);
        let condition = level(Factor::Condition, DEFAULT_CONDITION);
        let host = level(Factor::Host, DEFAULT_HOST);
        if !names_file(drive) && presets::find(drive).is_none() {
            let names: Vec<&str> = presets::ALL.iter().map(|preset| preset.name).collect();
            let known = format!("a drive file, or {}", names.join(", "));
            return Err(unknown(Factor::Drive, drive, &known));
        }
        let condition: Condition =
            condition.parse().map_err(|why: String| unread(Factor::Condition, condition, &why))?;
        let levelling = levels
            .0
            .get(&Factor::WearLevelling)
            .map(|level| level.parse().map_err(|why| unread(Factor::WearLevelling, level, why)));
        if !names_file(host) && host_model::find(host).is_none() {
            let names = HOSTS.each_ref().map(|host| host.name.as_str());
            let known = format!("a host file, or {}", names.join(", "));
            return Err(unknown(Factor::Host, host, &known));
        }
        let levelling = levelling.transpose()?;
        Ok(Self {
            drive: drive.to_owned(),
            condition,
            levelling,
            power_loss_protection: one_of(levels, Factor::PowerLossProtection, &SWITCH)?,
            flush: one_of(levels, Factor::Flush, &FLUSHES)?,
            power_fault: one_of(levels, Factor::PowerFault, &POWER_FAULTS)?,
            layer: layer::read(level(Factor::Layer, "none"))?,
            host: host.to_owned(),
            kernel: kernel(levels)?,
        })
    }

    /// The files that it names.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        let models = [&self.drive, &self.host].into_iter().filter(|level| names_file(level));
        let kernel = match &self.kernel {
            KernelLevel::File(path) => Some(path.as_path()),
            KernelLevel::Default | KernelLevel::Version(_) => None,
        };
        models.map(Path::new).chain(kernel)
    }

    /// The drive, changed as the levels say.
    pub fn changed(&self, drive: &Specification) -> Specification {
        let mut drive = drive.clone();
        drive.wear.levelling = self.levelling.unwrap_or(drive.wear.levelling);
        let power_loss = &mut drive.power_loss;
        power_loss.protection = self.power_loss_protection.unwrap_or(power_loss.protection);
        power_loss.flush = self.flush.unwrap_or(power_loss.flush);
        power_loss.fault = self.power_fault.unwrap_or(power_loss.fault);
        if drive.write_buffer.is_some() && !power_loss.protection {
            // A buffer that is lost in a power cut has to be flushed.
            drive.write_cache = WriteCache::Back;
        }
        drive
    }
}

fn kernel(levels: &Levels) -> Result<KernelLevel, LevelError> {
    let Some(level) = levels.0.get(&Factor::Kernel) else { return Ok(KernelLevel::Default) };
    if Factor::Kernel.names_file(level) {
        return Ok(KernelLevel::File(level.into()));
    }
    let is_version = level.starts_with(|c: char| c.is_ascii_digit())
        && level.chars().all(|c| c.is_ascii_alphanumeric() || ".-+_~".contains(c));
    if !is_version {
        let known = "a version, such as 6.1, or the path of a lab kernel";
        return Err(unknown(Factor::Kernel, level, known));
    }
    Ok(KernelLevel::Version(level.clone()))
}

/// A level that cannot be read. If it has an amount, as in `aged:N`, `why` is about that.
fn unread(factor: Factor, level: &str, why: &str) -> LevelError {
    let error = unknown(factor, level, why);
    if level.contains(':') { LevelError { help: why.to_owned(), ..error } } else { error }
}

#[cfg(test)]
mod tests;
