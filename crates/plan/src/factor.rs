//! The factors a plan can vary, and their levels.
//!
//! Wherever levels are stored or printed they stay the words the person wrote; [`super::Setup`] is
//! what they mean.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize, Serializer};

/// The level that leaves settings as they are; that of options, as mount(8) calls it.
pub(super) const DEFAULT: &str = "default";
pub(super) const DEFAULTS: &str = "defaults";

/// What an experiment varies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Factor {
    /// The filesystem that is made; `any` takes a directory's.
    Filesystem,
    /// The driver that mounts what several can: `ext2` or `ext4` for ext2; other filesystems have
    /// one only. If not set, it is what the kernel mounts by the filesystem's name.
    FilesystemDriver,
    /// ext4's journal.
    Journal,
    /// Checksums, by what the filesystem calls them.
    Checksums,
    /// Compression of data, by what the filesystem calls it.
    Compression,
    /// When access times are written.
    Atime,
    /// How the drive learns what is free.
    Discard,
    /// The I/O scheduler.
    Scheduler,
    /// The scheduler's tunables: `default`, or numbers by name, as one text (`read_expire=100`).
    SchedulerTunables,
    /// Attributes of the device's queue: `default`, or numbers by name, as one text
    /// (`read_ahead_kb=0`).
    Queue,
    /// Options added to mkfs, as one text; `defaults` for none.
    Mkfs,
    /// Options added to mount, comma-separated.
    Mount,
    /// Live lab: when the kernel writes back: `default`, or settings, comma-separated.
    Sysctl,
    /// Live lab: a change of the user's own, whose commands only the command line names.
    Tweak,
    /// Files that came and went before the trial: `off`, a profile (`desktop`), or a profile and
    /// the layout score it goes on to (`mail to 0.7`).
    Age,
    /// Data written to the filesystem before the first phase: an amount (`10 GB`) or a
    /// share of the device (`60 %`).
    Prefill,
    /// Data written after that and deleted again, so that the drive holds what no file needs any
    /// more, as a used one does: an amount or a share of the device.
    Stale,
    /// The drive's volatile write cache.
    WriteCache,
    /// Virtual lab: the simulated drive, a name of `ssdlab drive list` or a drive file.
    Drive,
    /// Virtual lab: the state the drive is brought into first.
    Condition,
    /// Virtual lab: how the drive spreads erases over its blocks, instead of as it does.
    WearLevelling,
    /// Virtual lab: whether the drive can save its write cache when the power is cut.
    PowerLossProtection,
    /// Virtual lab: what the drive does when it is to flush its cache: `honest`, or `ignored` by a
    /// drive that lies, instead of what it does.
    Flush,
    /// Virtual lab: what a power cut may do to data that were safe: `none`, or `lost map`: one in
    /// eight costs a third of the drive's blocks.
    PowerFault,
    /// Virtual lab: what lies between the drive and the filesystem.
    Layer,
    /// Virtual lab: the computer whose costs are charged, a name of `ssdlab list hosts`.
    Host,
    /// Virtual lab: the lab kernel, a version in the cache as far as it is clear (`6.1`), or the
    /// path of one; see `ssdlab kernel list`.
    Kernel,
    /// On a batch scheduler's nodes: a feature that the node must have, such as `ssd=x25m`.
    NodeFeature,
    /// Imported results: what a treatment is called there. No plan varies it.
    Label,
}

ssdlab_operations::words! {
    Factor {
        Filesystem: "filesystem",
        FilesystemDriver: "filesystem_driver",
        Journal: "journal",
        Checksums: "checksums",
        Compression: "compression",
        Atime: "atime",
        Discard: "discard",
        Scheduler: "scheduler",
        SchedulerTunables: "scheduler_tunables",
        Queue: "queue",
        Mkfs: "mkfs",
        Mount: "mount",
        Sysctl: "sysctl",
        Tweak: "tweak",
        Age: "age",
        Prefill: "prefill",
        Stale: "stale",
        WriteCache: "write_cache",
        Drive: "drive",
        Condition: "condition",
        WearLevelling: "wear_levelling",
        PowerLossProtection: "power_loss_protection",
        Flush: "flush",
        PowerFault: "power_fault",
        Layer: "layer",
        Host: "host",
        Kernel: "kernel",
        NodeFeature: "node_feature",
        Label: "label",
    }
}

impl Factor {
    /// Those with levels that may be paths of files.
    pub const OF_FILES: [Self; 3] = [Self::Drive, Self::Host, Self::Kernel];

    /// Whether it belongs to the simulated machine, which only the virtual lab has.
    pub fn is_simulated(self) -> bool {
        use Factor::{
            Condition, Drive, Flush, Host, Kernel, Layer, PowerFault, PowerLossProtection,
        };
        let cuts = matches!(self, PowerLossProtection | Flush | PowerFault);
        cuts || matches!(self, Drive | Condition | Self::WearLevelling | Layer | Host | Kernel)
    }

    /// Whether it changes the running machine, which only the live lab does.
    pub(super) fn is_of_running_machine(self) -> bool {
        matches!(self, Self::Sysctl | Self::Tweak)
    }

    /// Whether it affects an aged filesystem: by how it is made, or through the files that age it.
    /// Mount options do not: ageing uses the defaults.
    pub fn shapes_aged(self) -> bool {
        use Factor::{Age, Checksums, Compression, Filesystem, FilesystemDriver, Journal, Mkfs};
        let is_made = matches!(self, Filesystem | Journal | Checksums | Compression | Mkfs);
        is_made || matches!(self, FilesystemDriver | Age)
    }

    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|factor| factor.name() == name)
    }

    /// The level of a treatment that names none, where there is one word for that.
    pub(super) fn usual(self) -> Option<&'static str> {
        match self {
            Self::Mount | Self::Mkfs => Some(DEFAULTS),
            Self::SchedulerTunables | Self::Queue | Self::Sysctl => Some(DEFAULT),
            Self::Discard => Some("off"),
            _ => None,
        }
    }

    /// What to write instead of an unknown factor. In earlier versions each tunable was a factor.
    pub(super) fn instead_of(name: &str) -> String {
        match name.strip_prefix("scheduler.") {
            Some(tunable) => {
                format!("{} = \"{tunable}=NUMBER\"", Self::SchedulerTunables)
            }
            None if name == "phase" => {
                "a factor; phases are named in `phases`, or in `compare` and `against`".to_owned()
            }
            None => Self::ALL.map(Self::name).join(", "),
        }
    }
}

impl Serialize for Factor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Factor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::find(&name).ok_or_else(|| {
            let instead = Self::instead_of(&name);
            D::Error::custom(format!("unknown factor `{name}`, expected {instead}"))
        })
    }
}

impl JsonSchema for Factor {
    fn schema_name() -> Cow<'static, str> {
        "Factor".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names = Self::ALL.map(Self::name);
        let description = "What an experiment varies.";
        json_schema!({ "type": "string", "enum": names, "description": description })
    }
}

impl fmt::Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A level, as a plan writes it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a level, a word (\"on\", not true) or a number; scheduler tunables are a \
        separate factor: scheduler_tunables = \"read_expire=100\""
)]
pub enum Level {
    /// A word.
    Word(String),
    /// A number.
    Number(u64),
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(word) => f.write_str(word),
            Self::Number(number) => number.fmt(f),
        }
    }
}

/// One level for each of some factors: a whole treatment, or a part of one.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Levels(pub BTreeMap<Factor, String>);

impl Levels {
    /// Whether every level named in `part` is also set here.
    pub fn matches(&self, part: &Self) -> bool {
        part.0.iter().all(|(factor, level)| self.0.get(factor) == Some(level))
    }

    /// These levels with those of `part` in their place.
    #[must_use]
    pub fn with(&self, part: &Self) -> Self {
        let mut levels = self.clone();
        levels.0.extend(part.0.iter().map(|(factor, level)| (*factor, level.clone())));
        levels
    }

    /// The levels of some factors.
    #[must_use]
    pub fn only(&self, keeps: impl Fn(&Factor) -> bool) -> Self {
        let kept = self.0.iter().filter(|(factor, _)| keeps(factor));
        Self(kept.map(|(factor, level)| (*factor, level.clone())).collect())
    }
}

impl<'de> Deserialize<'de> for Levels {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = BTreeMap::<Factor, Level>::deserialize(deserializer)?;
        Ok(Self(written.into_iter().map(|(factor, level)| (factor, level.to_string())).collect()))
    }
}

impl fmt::Display for Levels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (factor, level)) in self.0.iter().enumerate() {
            write!(f, "{}{factor} = {level}", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
