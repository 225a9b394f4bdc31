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
mod tests {
    use super::*;

    #[test]
    fn plan_options_come_last_so_that_they_win() {
        for filesystem in ALL {
            let format = Format { extra: vec!["--plan".to_owned()], ..Format::default() };
            let arguments = filesystem.format_arguments(&format);
            // Of a pool, where it is mounted and what it is called come after its options.
            let last = arguments.len() - if filesystem.pool.is_some() { 4 } else { 1 };
            assert_eq!(arguments[last], "--plan");
        }
    }

    #[test]
    fn what_a_pool_is_asked_for_is_found_in_its_command_line() {
        let zfs = find("zfs").unwrap();
        let extra = vec!["-Ocompression=lzjb".to_owned()];
        let format = Format { atime: Some(false), extra, ..Format::default() };
        let line = zfs.format_arguments(&format).join(" ");
        let asked: Vec<_> = zfs.pool.unwrap().asked_for(&line).collect();
        assert_eq!(asked, [("atime", "off"), ("compression", "lzjb")]);
    }

    #[test]
    fn every_fact_has_a_source_and_every_snapshot_is_stated() {
        for Filesystem { name, facts, snapshot, .. } in ALL {
            let limits = [facts.longest_name, facts.largest_file, facts.largest_volume];
            assert!(limits.iter().all(|l| l.bytes == 0 || !l.source.is_empty()), "{name}");
            let features = [
                facts.checksums,
                facts.snapshots,
                facts.devices,
                facts.compression,
                facts.journal,
                facts.discard,
                facts.reflink,
                facts.encryption,
            ];
            assert!(features.iter().all(|feature| !feature.source.is_empty()), "{name}");
            assert_eq!(facts.snapshots.is_there(), snapshot.is_some(), "{name}");
        }
        for filesystem in ALL {
            let can = filesystem.discard_on.is_some();
            assert_eq!(filesystem.facts.discard.is_there(), can, "{}", filesystem.name);
        }
    }

    #[test]
    fn ext4_leaves_no_initialisation_to_the_background() {
        let arguments = find("ext4").unwrap().format_arguments(&Format::default()).join(" ");
        assert!(arguments.contains("lazy_itable_init=0"));
        assert!(arguments.contains("lazy_journal_init=0"));
    }

    #[test]
    fn a_plans_extended_options_do_not_replace_ours() {
        let extra = ["-E", "stride=16", "-I", "128"].map(str::to_owned).to_vec();
        let format = Format { extra, ..Format::default() };
        let arguments = find("ext4").unwrap().format_arguments(&format);
        assert_eq!(arguments.iter().filter(|word| *word == "-E").count(), 1);
        assert!(arguments[4].contains("lazy_itable_init=0") && arguments[4].ends_with("stride=16"));
        assert_eq!(arguments[5..], ["-I", "128"]);
    }

    #[test]
    fn mkfs_is_never_told_to_force_and_its_uuid_follows_from_the_seed() {
        for filesystem in ALL {
            let of = |seed| filesystem.format_arguments(&Format { seed, ..Format::default() });
            assert!(!of(1).iter().any(|word| word == "-f" || word == "-F" || word == "--force"));
            let has_no_option = ["jfs", "nilfs2", "zfs"].contains(&filesystem.name);
            assert_eq!(of(1) == of(2), has_no_option, "{}", filesystem.name);
            assert_eq!(of(1), of(1));
        }
    }

    #[test]
    fn journal_is_a_feature_flag_of_ext4() {
        let off = Format { journal: Some(false), ..Format::default() };
        assert!(find("ext4").unwrap().format_arguments(&off).contains(&"^has_journal".to_owned()));
        assert!(find("nosuchfs").is_none());
    }
}
