//! What is known about each filesystem: one small file each, facts and argument lists only.
//!
//! The plan asks this room which combinations of levels make sense and the lab asks it how to
//! make and mount a filesystem; neither knows a filesystem by name. Adding one is adding a file
//! and its line in [`ALL`].

mod btrfs;
mod ext;
mod ext2;
mod ext3;
mod ext4;
mod f2fs;
mod jfs;
mod nilfs2;
mod reiserfs;
mod xfs;

/// Every filesystem the program knows, in the order it lists them.
pub const ALL: [&Filesystem; 9] = [
    &ext2::FILESYSTEM,
    &ext3::FILESYSTEM,
    &ext4::FILESYSTEM,
    &xfs::FILESYSTEM,
    &btrfs::FILESYSTEM,
    &f2fs::FILESYSTEM,
    &jfs::FILESYSTEM,
    &nilfs2::FILESYSTEM,
    &reiserfs::FILESYSTEM,
];

/// The facts about one filesystem.
#[derive(Debug)]
pub struct Filesystem {
    /// The name in plans, which is also the kernel's name for `mount(2)`.
    pub name: &'static str,
    /// The program that makes it.
    pub mkfs: &'static str,
    /// The Debian package that carries [`Self::mkfs`] and the program of [`Self::check`].
    pub package: &'static str,
    /// Options of [`Self::mkfs`] that a plan may add; each takes a value.
    pub mkfs_options: &'static [&'static str],
    /// Whether it has a journal that a plan can switch.
    pub journal: Journal,
    /// What the kernel's driver publishes about itself.
    pub driver: Driver,
    /// The mount option that turns online discard on; `None` if it can tell its device nothing,
    /// not even on request (fstrim).
    pub discard_on: Option<&'static str>,
    /// The mount option that turns online discard off, where off is not the default.
    pub discard_off: Option<&'static str>,
    /// The smallest device its mkfs accepts with our flags, in bytes.
    pub smallest_bytes: u64,
    /// How it is checked; `None` if nobody has written a program for that.
    pub check: Option<Check>,
    /// The arguments of mkfs for a format that leaves no work to the background.
    format: fn(&Format) -> Vec<String>,
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

/// A check that changes nothing, asks nothing, and ends with an error if it finds damage. Its
/// program is in the package of mkfs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Check {
    /// The program.
    pub program: &'static str,
    /// Its arguments before the device.
    pub arguments: &'static [&'static str],
}

/// What mkfs is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Format {
    /// With or without a journal; `None` leaves mkfs its default.
    pub journal: Option<bool>,
    /// Seeds what mkfs would draw at random: the UUID, the directory hash of ext2/3/4.
    pub seed: u64,
    /// Options the plan adds, after all others.
    pub extra: Vec<String>,
}

impl Filesystem {
    /// The arguments of [`Self::mkfs`] before the device.
    #[must_use]
    pub fn format_arguments(&self, format: &Format) -> Vec<String> {
        (self.format)(format)
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
            assert_eq!(filesystem.format_arguments(&format).last().unwrap(), "--plan");
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
            let has_no_option = ["jfs", "nilfs2"].contains(&filesystem.name);
            assert_eq!(of(1) == of(2), has_no_option, "{}", filesystem.name);
            assert_eq!(of(1), of(1));
        }
    }

    #[test]
    fn journal_is_a_feature_flag_of_ext4() {
        let off = Format { journal: Some(false), ..Format::default() };
        assert!(find("ext4").unwrap().format_arguments(&off).contains(&"^has_journal".to_owned()));
        assert!(find("zfs").is_none());
    }
}
