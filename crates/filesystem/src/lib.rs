//! Filesystems, one small file each, as facts and argument lists only.
//!
//! The plan asks this room which combinations of levels make sense, and the lab how to make and
//! mount a filesystem; neither refers to a filesystem by name. The kernel room lists those that it
//! builds.

mod bcachefs;
mod btrfs;
mod call;
mod ext;
mod ext2;
mod ext3;
mod ext4;
mod f2fs;
pub mod facts;
mod filesystem;
mod jfs;
pub mod layout;
mod mount_option;
mod nilfs2;
mod reiser4;
mod reiserfs;
mod setting;
mod xfs;
mod zfs;

pub use call::{MkfsCall, findings, is_uuid_in_use};
pub use ext::EXT4;
pub use facts::{Facts, Feature, Limit, SnapshotSupport};
use filesystem::uuid;
pub use filesystem::{Driver, Filesystem, JournalSupport, MkfsOptions, Postponed};
pub use filesystem::{Pool, PoolDaemon};
pub use layout::{BlockKind, InodePlaces, Layout, LayoutFault, LayoutQuery};
pub use mount_option::{Alias, MountOptions};
pub use setting::{Bits, Setting, SettingLevel};

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

/// Finds a filesystem by its name in plans.
pub fn find(name: &str) -> Option<&'static Filesystem> {
    ALL.into_iter().find(|filesystem| filesystem.name == name)
}

/// The names a plan can use, in order.
pub fn names() -> Vec<&'static str> {
    ALL.iter().map(|filesystem| filesystem.name).collect()
}

/// The names of all drivers, in order.
pub fn drivers() -> Vec<&'static str> {
    let mut names: Vec<&str> = Vec::new();
    for driver in ALL.into_iter().flat_map(|filesystem| filesystem.drivers) {
        if !names.contains(&driver.name) {
            names.push(driver.name);
        }
    }
    names
}

impl Filesystem {
    /// The filesystems that have a mount option which this one lacks; empty if it has it, or if
    /// nobody is known to.
    pub fn lacks_option(&self, option: &str) -> Vec<&'static str> {
        let name = mount_option::name(option);
        let own = &self.mount_options;
        if own.names.is_empty() || own.have(name) {
            return Vec::new();
        }
        let others = ALL.into_iter().filter(|other| other.mount_options.have(name));
        others.map(|other| other.name).collect()
    }
}

#[cfg(test)]
mod tests;
