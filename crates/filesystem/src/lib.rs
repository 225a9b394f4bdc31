//! Filesystems, one small file each, as facts and argument lists only.
//!
//! The plan asks this room which combinations of levels make sense, and the lab how to make and
//! mount a filesystem; neither refers to a filesystem by name. To add one, add a file and its line
//! in [`ALL`].

mod bcachefs;
mod btrfs;
mod ext;
mod ext2;
mod ext3;
mod ext4;
mod f2fs;
pub mod facts;
mod jfs;
pub mod layout;
mod mount_option;
mod nilfs2;
mod pool;
mod postponed;
mod reiser4;
mod reiserfs;
mod setting;
mod xfs;
mod zfs;

pub use ext::EXT4;
pub use facts::{Facts, Feature, Limit, Snapshot};
pub use layout::{Kind, Layout, LayoutFault, Probe};
pub use mount_option::{Alias, MountOptions};
pub use pool::{Daemon, Pool};
pub use postponed::Postponed;
pub use setting::{Bits, Level, Setting};

/// All supported filesystems, in the order in which they are listed.
pub const ALL: [&Filesystem; 12] = [
    &ext2::FILESYSTEM,
    &ext3::FILESYSTEM,
    &ext4::FILESYSTEM,
    &xfs::FILESYSTEM,
    &btrfs::FILESYSTEM,
    &f2fs::FILESYSTEM,
    &jfs::FILESYSTEM,
    &nilfs2::FILESYSTEM,
    &reiserfs::FILESYSTEM,
    &zfs::FILESYSTEM,
    &bcachefs::FILESYSTEM,
    &reiser4::FILESYSTEM,
];

/// A filesystem.
#[derive(Debug)]
pub struct Filesystem {
    /// Its name in plans and in the kernel.
    pub name: &'static str,
    /// Its mkfs program.
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
    pub journal: Journal,
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
    pub check: Option<Call>,
    /// The program in [`Self::package`] that replays the journal after a power cut, if the kernel
    /// does not.
    pub replay: Option<Call>,
    /// The arguments of mkfs; no work is left to the background.
    format: fn(&Format) -> Vec<String>,
    /// How its layout is queried; `None` if no tool reports it.
    pub layout: Option<&'static Probe>,
    /// How a snapshot is taken; `None` if it has no snapshots.
    pub snapshot: Option<Snapshot>,
    /// Its limits and features.
    pub facts: Facts,
}

/// Whether a filesystem's journal can be switched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Journal {
    /// It never has one.
    Never,
    /// It always has one.
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

/// A program and its first arguments; the device or the name of the pool follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// The program.
    pub program: &'static str,
    /// Its first arguments.
    pub arguments: &'static [&'static str],
}

/// How lines begin that tell of a check's steps, not of what it finds. Those of `xfs_repair` are
/// many, and come after its findings.
const STEPS: [&str; 4] = ["Pass ", "Phase ", "- ", "No modify flag set"];

/// What a check found, by what it printed; all of that if it names no finding.
#[must_use]
pub fn findings(printed: &str) -> String {
    let is_step = |line: &&str| STEPS.iter().any(|step| line.trim_start().starts_with(step));
    let findings: Vec<&str> = printed.lines().filter(|line| !is_step(line)).collect();
    let findings = findings.join("\n");
    if findings.trim().is_empty() { printed.to_owned() } else { findings }
}

/// How mkfs says that it found the UUID it was given on another device. Only that of btrfs looks
/// for it (`mkfs/main.c` of btrfs-progs).
const UUID_IN_USE: &str = "non-unique UUID";

/// Whether mkfs failed because another device has the UUID that it was given, by what it printed.
#[must_use]
pub fn is_uuid_in_use(printed: &str) -> bool {
    printed.contains(UUID_IN_USE)
}

/// The parameters of mkfs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Format {
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

impl Format {
    /// These arguments, followed by the plan's.
    fn arguments(&self, ours: &[&str]) -> Vec<String> {
        ours.iter().map(|word| (*word).to_owned()).chain(self.extra.iter().cloned()).collect()
    }
}

impl Filesystem {
    /// The arguments of [`Self::mkfs`] before the device.
    #[must_use]
    pub fn format_arguments(&self, format: &Format) -> Vec<String> {
        (self.format)(format)
    }

    /// Finds a driver by its name in plans.
    #[must_use]
    pub fn driver(&self, name: &str) -> Option<&'static Driver> {
        self.drivers.iter().find(|driver| driver.name == name)
    }

    /// The programs needed to make and mount it, from [`Self::package`].
    #[must_use]
    pub fn programs(&self) -> Vec<&'static str> {
        let of_pool = |pool: &Pool| [pool.daemon.call.program, pool.commit.program];
        let others = self.pool.map(of_pool).into_iter().flatten();
        std::iter::once(self.mkfs).chain(others).collect()
    }
}

/// A UUID derived from a seed, in the form of version 4: mke2fs refuses others.
fn uuid(seed: u64) -> String {
    format!("{:08x}-{:04x}-4000-8000-{:012x}", seed >> 32, (seed >> 16) & 0xffff, seed & 0xffff)
}

/// Finds a filesystem by its name in plans.
#[must_use]
pub fn find(name: &str) -> Option<&'static Filesystem> {
    ALL.into_iter().find(|filesystem| filesystem.name == name)
}

/// The names a plan can use, in order.
#[must_use]
pub fn names() -> Vec<&'static str> {
    ALL.iter().map(|filesystem| filesystem.name).collect()
}

/// The names of all drivers, in order.
#[must_use]
pub fn drivers() -> Vec<&'static str> {
    let mut names: Vec<&str> = Vec::new();
    for driver in ALL.into_iter().flat_map(|filesystem| filesystem.drivers) {
        if !names.contains(&driver.name) {
            names.push(driver.name);
        }
    }
    names
}

#[cfg(test)]
mod tests;
