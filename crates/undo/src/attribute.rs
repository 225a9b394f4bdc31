//! The attributes of a disk in sysfs that runs set. A lab names attributes by this type, and a
//! journal that names anything else is refused, because its reader writes as root.

use std::path::{Component, Path, PathBuf};

/// An attribute of a disk that a run may set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attribute<'a> {
    /// Whether the kernel counts the disk's I/O.
    Counters,
    /// The I/O scheduler.
    Scheduler,
    /// A tunable of the scheduler, which has a number.
    Tunable(&'a str),
    /// The write cache as the kernel sees it.
    QueueWriteCache,
    /// The write cache as the disk itself has it (virtio).
    CacheType,
}

/// Where the tunables of a scheduler are.
const TUNABLES: &str = "queue/iosched";

impl<'a> Attribute<'a> {
    const NAMED: [(Self, &'static str); 4] = [
        (Self::Counters, "queue/iostats"),
        (Self::Scheduler, "queue/scheduler"),
        (Self::QueueWriteCache, "queue/write_cache"),
        (Self::CacheType, "cache_type"),
    ];

    /// Its file, below the folder of the disk.
    #[must_use]
    pub fn of_disk(self, disk: &Path) -> PathBuf {
        if let Self::Tunable(name) = self {
            return disk.join(TUNABLES).join(name);
        }
        let named = Self::NAMED.into_iter().find(|(attribute, _)| *attribute == self);
        disk.join(named.expect("all but tunables are named").1)
    }

    /// The attribute at a path in sysfs, if it is one of these and belongs to a disk.
    fn at(path: &'a Path) -> Option<Self> {
        let name = |part| match part {
            Component::Normal(name) => name.to_str(),
            _ => None,
        };
        let names: Option<Vec<&str>> =
            path.strip_prefix("/sys/devices").ok()?.components().map(name).collect();
        // A disk is at least two levels below (`virtual/block/loop0`).
        let [_, _, below @ ..] = &names?[..] else { return None };
        if let [.., "queue", "iosched", name] = below {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
            return name.chars().all(is_plain).then_some(Self::Tunable(name));
        }
        let is_named = |file: &str| below.ends_with(&file.split('/').collect::<Vec<_>>());
        let found = Self::NAMED.into_iter().find(|(_, file)| is_named(file));
        found.map(|(attribute, _)| attribute)
    }

    /// Whether it can have had this value, and be given it again.
    fn takes(self, value: &str) -> bool {
        let is_of = |more: &[char]| {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || more.contains(&c);
            !value.is_empty() && value.len() <= 64 && value.chars().all(is_plain)
        };
        match self {
            Self::Counters => matches!(value, "0" | "1"),
            Self::Scheduler => is_of(&['-', '_']),
            Self::Tunable(_) => value.parse::<i128>().is_ok(),
            Self::QueueWriteCache | Self::CacheType => {
                matches!(value, "write back" | "write through")
            }
        }
    }
}

/// Whether a run may have set the attribute in this file from one value to the other.
pub(super) fn is_settable(path: &Path, before: &str, after: &str) -> bool {
    let attribute = Attribute::at(path);
    attribute.is_some_and(|attribute| attribute.takes(before) && attribute.takes(after))
}

#[cfg(test)]
mod tests;
