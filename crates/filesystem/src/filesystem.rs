//! What is known of a filesystem, and the parameters of its mkfs.

use std::time::Duration;

use super::facts::{
    Facts, LARGEST_FILE, LONGEST_NAME, Limit, REFLINK, REFUSED, SNAPSHOTS, SnapshotSupport, WORKS,
    limit_found,
};
use super::{LayoutQuery, MkfsCall, MountOptions, Setting};

#[derive(Debug)]
pub struct Filesystem {
    /// Its name in plans and in the kernel.
    pub name: &'static str,
    pub mkfs: &'static str,
    /// The Debian package of [`Self::mkfs`] and of the program of [`Self::check`].
    pub package: &'static str,
    /// Options of [`Self::mkfs`] that a plan may add; each takes a value.
    pub mkfs_options: &'static [&'static str],
    /// Its options of mount(2).
    pub mount_options: MountOptions,
    /// How its pool is created and imported; `None` if mount(2) mounts it.
    pub pool: Option<&'static Pool>,
    /// Whether a plan can switch its journal on and off.
    pub journal: JournalSupport,
    /// Checksums of metadata, and of data if it has them.
    pub checksums: Setting,
    /// Compression of data.
    pub compression: Setting,
    /// The drivers that can mount it, its own first; empty if there is no choice to make and
    /// nothing published to read.
    pub drivers: &'static [Driver],
    /// The mount option that turns online discard on; `None` if it cannot discard at all, not even
    /// by fstrim.
    pub discard_on: Option<&'static str>,
    /// The mount option that turns online discard off, if off is not the default.
    pub discard_off: Option<&'static str>,
    /// Online discards that it issues later than by the end of a sync.
    pub postponed: Option<Postponed>,
    /// Whether direct writes (`O_DIRECT`) cost it no more than buffered ones.
    pub writes_directly: bool,
    /// The smallest device that its mkfs accepts with our options, in bytes.
    pub smallest_bytes: u64,
    /// About what its mkfs, with our options, and the first mount write to a device of some bytes,
    /// in bytes; `None` if nobody has measured it.
    pub made_bytes: Option<fn(u64) -> u64>,
    /// A read-only, non-interactive check that fails if it finds damage, in [`Self::package`];
    /// `None` if no such program exists.
    pub check: Option<MkfsCall>,
    /// The program in [`Self::package`] that replays the journal after a power cut, if the kernel
    /// does not.
    pub replay: Option<MkfsCall>,
    /// The arguments of mkfs; no work is left to the background.
    pub(super) format: fn(&MkfsOptions) -> Vec<String>,
    /// How its layout is queried; `None` if no tool reports it.
    pub layout: Option<&'static LayoutQuery>,
    /// How a snapshot is taken; `None` if it has no snapshots.
    pub snapshot: Option<SnapshotSupport>,
    /// Its limits and features.
    pub facts: Facts,
}

/// Whether a filesystem's journal can be switched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JournalSupport {
    Never,
    Always,
    /// `journal = "on"` and `"off"` both exist.
    Optional,
    /// The factor does not apply, because a log or copy-on-write keeps it consistent.
    NotApplicable,
}

/// A driver of the kernel, as it mounts one filesystem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Driver {
    /// Its name in plans.
    pub name: &'static str,
    /// The type to ask for in mount(2).
    pub kind: &'static str,
    /// Options of mount that it needs if it is asked for by that type.
    pub mount: &'static [&'static str],
    /// Whether it tells the device what is free.
    pub discards: bool,
}

/// Online discards that may still be to come when a sync has returned and the device is idle.
#[derive(Debug, Clone, Copy)]
pub struct Postponed {
    /// The mount option with which they are postponed.
    pub option: &'static str,
    /// Whether they are postponed without any option about discards, too.
    pub is_default: bool,
    /// The longest time until they are issued.
    pub longest: Duration,
    /// The source of the statement.
    pub source: &'static str,
}

/// The parameters of mkfs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MkfsOptions {
    /// With or without a journal; `None` means the default of mkfs.
    pub journal: Option<bool>,
    /// With or without access times, for filesystems where mkfs decides that.
    pub atime: Option<bool>,
    /// The seed for what mkfs would choose at random: the UUID, the directory hash of ext2/3/4.
    pub seed: u64,
    /// Options from the plan, by levels and verbatim; they come last.
    pub extra: Vec<String>,
    /// The name of the pool, for a filesystem that has one.
    pub pool: String,
    /// Where the pool will be mounted.
    pub mounted_at: String,
}

impl MkfsOptions {
    /// These arguments, followed by the plan's.
    pub(super) fn arguments(&self, ours: &[&str]) -> Vec<String> {
        ours.iter().map(|word| (*word).to_owned()).chain(self.extra.iter().cloned()).collect()
    }
}

impl Filesystem {
    /// The arguments of [`Self::mkfs`] before the device.
    pub fn format_arguments(&self, format: &MkfsOptions) -> Vec<String> {
        (self.format)(format)
    }

    /// Finds a driver by its name in plans.
    pub fn driver(&self, name: &str) -> Option<&'static Driver> {
        self.drivers.iter().find(|driver| driver.name == name)
    }

    /// The programs needed to make and mount it, from [`Self::package`].
    pub fn programs(&self) -> Vec<&'static str> {
        let of_pool = |pool: &Pool| [pool.daemon.call.program, pool.commit.program];
        let others = self.pool.map(of_pool).into_iter().flatten();
        std::iter::once(self.mkfs).chain(others).collect()
    }

    /// The expected result for each fact that can be checked.
    pub fn stated(&self) -> Vec<(&'static str, String)> {
        let Facts { longest_name, largest_file, has_holes, reflink, .. } = self.facts;
        let limit = |limit: Limit| limit_found(u64::try_from(limit.bytes).unwrap_or(u64::MAX));
        let works = |is_there| if is_there { WORKS } else { REFUSED }.to_owned();
        let snapshots = self.snapshot.map(|_| (SNAPSHOTS, works(true)));
        let largest = has_holes.then(|| (LARGEST_FILE, limit(largest_file)));
        [(LONGEST_NAME, limit(longest_name)), (REFLINK, works(reflink.is_there()))]
            .into_iter()
            .chain(largest)
            .chain(snapshots)
            .collect()
    }

    /// How long online discards may be postponed after a sync, if it is mounted with these options,
    /// of which the last counts; zero if none come later.
    pub fn postpones<'a>(&self, options: impl IntoIterator<Item = &'a str>) -> Duration {
        let Some(postponed) = self.postponed else { return Duration::ZERO };
        let is_about = |option: &&str| {
            let name = option.split('=').next();
            matches!(name, Some("discard" | "nodiscard"))
        };
        let last = options.into_iter().filter(is_about).last();
        let is_postponed = last.map_or(postponed.is_default, |option| option == postponed.option);
        if is_postponed { postponed.longest } else { Duration::ZERO }
    }
}

/// A UUID derived from a seed, in the form of version 4: mke2fs refuses others.
pub(super) fn uuid(seed: u64) -> String {
    format!("{:08x}-{:04x}-4000-8000-{:012x}", seed >> 32, (seed >> 16) & 0xffff, seed & 0xffff)
}

/// The programs that manage a pool. The pool's name is appended to each call, which runs in a
/// folder that contains only links to the pool's device, so that no other pool is ever touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pool {
    /// The daemon that serves it if the kernel has no driver.
    pub daemon: PoolDaemon,
    /// Imports an exported pool and mounts it at the place set when it was created.
    pub import: MkfsCall,
    /// Exports a pool that is no longer mounted.
    pub export: MkfsCall,
    /// Commits all earlier writes, which sync(2) does not.
    pub commit: MkfsCall,
    /// Prints the active properties, a name and a value on each line.
    pub properties: MkfsCall,
    /// The prefix of a property and its value among the arguments of mkfs, in the same word.
    pub property_option: &'static str,
    /// Its type in the mount table, when served by the daemon and by the kernel.
    pub kinds: [&'static str; 2],
}

/// A program that serves a filesystem through FUSE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolDaemon {
    /// The program and its arguments.
    pub call: MkfsCall,
    /// Folders it needs for its socket and its lock, which end with it.
    pub folders: &'static [&'static str],
    /// Its socket, which accepts connections when it is ready. If it does so before, another daemon
    /// owns it.
    pub socket: &'static str,
    /// The list of the machine's own pools, which it would import unasked.
    pub own_pools: &'static str,
}

impl Pool {
    /// The properties set by a command line of mkfs, with their values.
    pub fn asked_for<'a>(&self, mkfs: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let option = self.property_option;
        let properties = mkfs.split(' ').filter_map(move |word| word.strip_prefix(option));
        properties.filter_map(|property| property.split_once('='))
    }
}
