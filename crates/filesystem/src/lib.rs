//! Each filesystem in one small file: facts and argument lists only.
//!
//! The plan asks this room which combinations of levels make sense and the lab asks it how to
//! make and mount a filesystem; neither knows a filesystem by name. Adding one is adding a file
//! and its line in [`ALL`].

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
mod nilfs2;
mod pool;
mod reiser4;
mod reiserfs;
mod setting;
mod xfs;
mod zfs;

pub use facts::{Facts, Feature, Limit, Snapshot};
pub use layout::{Kind, Layout, LayoutFault, Probe};
pub use pool::{Daemon, Pool};
pub use setting::{Bits, Level, Setting};

/// Every filesystem the program knows, in the order it lists them.
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

/// The facts about one filesystem.
#[derive(Debug)]
pub struct Filesystem {
    /// The name in plans, which is also the kernel's.
    pub name: &'static str,
    /// The program that makes it.
    pub mkfs: &'static str,
    /// The Debian package that carries [`Self::mkfs`] and the program of [`Self::check`].
    pub package: &'static str,
    /// Options of [`Self::mkfs`] that a plan may add; each takes a value.
    pub mkfs_options: &'static [&'static str],
    /// The pool it lives in, by which it is mounted; `None` for one that mount(2) mounts.
    pub pool: Option<&'static Pool>,
    /// Whether it has a journal that a plan can switch.
    pub journal: Journal,
    /// Checksums: of metadata, and of data where it has them.
    pub checksums: Setting,
    /// Compression of data.
    pub compression: Setting,
    /// What the kernel's driver publishes about itself.
    pub driver: Driver,
    /// The mount option that turns online discard on; `None` if it can tell its device nothing,
    /// not even on request (fstrim).
    pub discard_on: Option<&'static str>,
    /// The mount option that turns online discard off, where off is not the default.
    pub discard_off: Option<&'static str>,
    /// Whether writing past the page cache (`O_DIRECT`) costs it no more than writing through it.
    pub writes_directly: bool,
    /// The smallest device its mkfs accepts with our flags, in bytes.
    pub smallest_bytes: u64,
    /// A check that changes nothing, asks nothing, and ends with an error if it finds damage;
    /// `None` if nobody has written a program for that. It is in [`Self::package`].
    pub check: Option<Call>,
    /// The arguments of mkfs for a format that leaves no work to the background.
    format: fn(&Format) -> Vec<String>,
    /// How its layout is asked for; `None` where nothing tells.
    pub layout: Option<&'static Probe>,
    /// How a snapshot is taken; `None` if it has none.
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
    /// It is built otherwise (a log or copy-on-write) and the factor does not apply.
    NotApplicable,
}

/// What the kernel's driver publishes about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Driver {
    /// The ext4 driver: `/sys/fs/ext4`, `/proc/fs/ext4`, `/proc/fs/jbd2`.
    Ext4,
    /// Nothing this program reads.
    Other,
}

/// A program and its arguments before what it works on: the device, or the pool's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// The program.
    pub program: &'static str,
    /// Its first arguments.
    pub arguments: &'static [&'static str],
}

/// What mkfs is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Format {
    /// With or without a journal; `None` leaves mkfs its default.
    pub journal: Option<bool>,
    /// With or without access times, where that is said when it is made.
    pub atime: Option<bool>,
    /// Seeds what mkfs would draw at random: the UUID, the directory hash of ext2/3/4.
    pub seed: u64,
    /// Options the plan adds, by levels and as they are, after all others.
    pub extra: Vec<String>,
    /// The name of its pool, and where that will be mounted, for a filesystem that lives in one.
    pub pool: String,
    /// See [`Self::pool`].
    pub mounted_at: String,
}

impl Filesystem {
    /// The arguments of [`Self::mkfs`] before the device.
    #[must_use]
    pub fn format_arguments(&self, format: &Format) -> Vec<String> {
        (self.format)(format)
    }

    /// The programs without which it can be neither made nor mounted, in [`Self::package`].
    #[must_use]
    pub fn programs(&self) -> Vec<&'static str> {
        let of_pool = |pool: &Pool| [pool.daemon.call.program, pool.commit.program];
        let others = self.pool.map(of_pool).into_iter().flatten();
        std::iter::once(self.mkfs).chain(others).collect()
    }
}

/// A UUID that follows from a seed, of version 4 in form: mke2fs refuses other shapes.
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

#[cfg(test)]
mod tests;
