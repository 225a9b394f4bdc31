//! The attributes of a disk in sysfs that runs set. A lab names attributes by this type, and a
//! journal that names anything else is refused, because its reader writes as root.

use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::sysfs;

/// An attribute of a disk that a run may set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attribute<'a> {
    /// Whether the kernel counts the disk's I/O.
    Counters,
    /// The I/O scheduler.
    Scheduler,
    /// A tunable of the scheduler, which has a number.
    Tunable(&'a str),
    /// How many requests the queue holds.
    Requests,
    /// How many of them may be asynchronous; of earlier kernels a tunable of the scheduler.
    AsyncDepth,
    /// How far the kernel reads ahead, in KiB.
    ReadAhead,
    /// Which requests are not merged.
    Merges,
    /// Which processor completes requests.
    Affinity,
    /// Whether completions feed the pool of random numbers.
    Entropy,
    /// The write cache as the kernel sees it.
    QueueWriteCache,
    /// The write cache as the disk itself has it (virtio).
    CacheType,
}

/// Where the tunables of a scheduler are.
const TUNABLES: &str = "queue/iosched";

impl<'a> Attribute<'a> {
    const NAMED: [(Self, &'static str); 10] = [
        (Self::Counters, "queue/iostats"),
        (Self::Scheduler, "queue/scheduler"),
        (Self::Requests, "queue/nr_requests"),
        (Self::AsyncDepth, "queue/async_depth"),
        (Self::ReadAhead, "queue/read_ahead_kb"),
        (Self::Merges, "queue/nomerges"),
        (Self::Affinity, "queue/rq_affinity"),
        (Self::Entropy, "queue/add_random"),
        (Self::QueueWriteCache, "queue/write_cache"),
        (Self::CacheType, "cache_type"),
    ];

    /// The attribute of the queue with this name, if runs set it.
    pub fn of_queue(name: &str) -> Option<Self> {
        let is_it = |file: &str| file.strip_prefix("queue/") == Some(name);
        Self::NAMED.into_iter().find(|(_, file)| is_it(file)).map(|(attribute, _)| attribute)
    }

    /// Its file, below the folder of the disk.
    pub fn of_disk(self, disk: &Path) -> PathBuf {
        if let Self::Tunable(name) = self {
            return disk.join(TUNABLES).join(name);
        }
        let named = Self::NAMED.into_iter().find(|(attribute, _)| *attribute == self);
        disk.join(named.expect("all but tunables are named").1)
    }

    /// The tuning of a disk's queue that the kernel sets to defaults whenever the scheduler is
    /// switched (block/elevator.c, block/blk-mq-sched.c), with its values; last what changes
    /// others when it is set: the number of requests `async_depth`, bfq's `strict_guarantees`
    /// `slice_idle`.
    pub fn tuning(disk: &Path) -> Vec<(PathBuf, String)> {
        let files = fs::read_dir(disk.join(TUNABLES)).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = files.map(|file| file.path()).collect();
        paths.extend([Self::Requests, Self::AsyncDepth].map(|one| one.of_disk(disk)));
        let influence = ["nr_requests", "strict_guarantees"];
        paths.sort_by_key(|path| influence.iter().position(|name| path.ends_with(name)));
        let read = |path: PathBuf| sysfs::read(&path).ok().map(|value| (path, value));
        paths.into_iter().filter_map(read).filter(|(path, value)| is_tuning(path, value)).collect()
    }

    fn is_tuning(self) -> bool {
        matches!(self, Self::Tunable(_) | Self::Requests | Self::AsyncDepth)
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
            Self::Counters | Self::Entropy => matches!(value, "0" | "1"),
            Self::Scheduler => is_of(&['-', '_']),
            Self::Tunable(_) | Self::Requests | Self::AsyncDepth | Self::ReadAhead => {
                value.parse::<i128>().is_ok()
            }
            Self::Merges | Self::Affinity => matches!(value, "0" | "1" | "2"),
            Self::QueueWriteCache | Self::CacheType => {
                matches!(value, "write back" | "write through")
            }
        }
    }
}

/// Whether a disk has this scheduler, by the file of its tuning.
pub(super) fn has_scheduler(tuning: &Path, scheduler: &str) -> bool {
    let queue = tuning.ancestors().find(|above| above.ends_with("queue"));
    let text = queue.and_then(|queue| sysfs::read(&queue.join("scheduler")).ok());
    text.is_some_and(|text| sysfs::selected(&text) == scheduler)
}

/// Whether switching the scheduler sets back the attribute in this file, and it can have had this
/// value.
pub(super) fn is_tuning(path: &Path, value: &str) -> bool {
    let attribute = Attribute::at(path);
    attribute.is_some_and(|attribute| attribute.is_tuning() && attribute.takes(value))
}

/// Whether a run may have set the attribute in this file from one value to the other.
pub(super) fn is_settable(path: &Path, before: &str, after: &str) -> bool {
    let attribute = Attribute::at(path);
    attribute.is_some_and(|attribute| attribute.takes(before) && attribute.takes(after))
}

#[cfg(test)]
mod tests;
