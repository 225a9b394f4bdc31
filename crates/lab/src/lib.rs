//! Labs: places to run a trial. A lab provides a freshly made filesystem with a treatment's
//! settings, every one of them read back, and takes it away again.
//!
//! What happens on the filesystem is up to the workload, not to the lab.

mod attribute;
mod blank;
mod block;
mod device;
mod directory;
mod drive;
mod error;
mod features;
mod format;
mod guest;
mod image;
mod layout;
mod mounting;
mod pool;
pub mod safety;
mod settings;
mod survey;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use block::{missing, missing_in_guest};
pub use device::open as open_device;
pub use directory::open as open_directory;
pub use drive::{Drive, OtherDrive};
pub use error::LabError;
pub use features::unchecked;
pub use guest::open as open_in_guest;
pub use image::open as open_image;
use ssdlab_filesystem::Layout;
use ssdlab_host::program::Rules;
use ssdlab_host::sysfs::BlockDevice;
use ssdlab_plan::Setup;
use ssdlab_undo::Journal;
pub use survey::survey;

/// What a lab needs to change the machine and to stop in time.
#[derive(Debug)]
pub struct Tools<'a> {
    /// Where changes are written down before they are made.
    pub journal: &'a mut Journal,
    /// The rules for programs it runs.
    pub rules: Rules<'a>,
}

/// The ground of one trial: a directory, and the device under it.
#[derive(Debug)]
pub struct Ground {
    /// The directory the workload has for itself, empty.
    pub directory: PathBuf,
    /// Where the filesystem is mounted (in the directory lab: the directory that was given).
    pub mounted_at: PathBuf,
    /// Whether others use the device too, so that it need never fall quiet.
    pub is_shared: bool,
    /// The words of the command that commits what sync(2) leaves in memory; none where it leaves
    /// nothing.
    pub commit: Vec<String>,
    /// Whether the filesystem compresses, so that less may reach the device than is written.
    pub compresses: bool,
    /// Every setting as the kernel or mkfs reports it.
    pub applied: BTreeMap<String, String>,
}

/// What is on a device before a trial's ground is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// Nothing: its filesystem is made.
    Blank,
    /// The filesystem of the setup, which is mounted as it is.
    Aged,
}

/// A place to run trials.
pub trait Lab {
    /// Why this treatment cannot run here at all; `None` if it can.
    fn missing(&self, setup: &Setup) -> Option<String>;

    /// The drive that all trials have, where it was there before; none where devices are made, or
    /// somebody else's.
    fn drive(&self) -> Option<Drive> {
        None
    }

    /// Provides the block device of a trial; none where there is none. Where devices are files of
    /// ours it may be a copy of one that was kept.
    fn attach(
        &mut self,
        kept: Option<&Path>,
        tools: &mut Tools<'_>,
    ) -> Result<Option<BlockDevice>, LabError>;

    /// The file that stands for the device, where it is a file of ours.
    fn file(&self) -> Option<&Path> {
        None
    }

    /// Makes the ground of a trial on it, from where it starts. Whatever it changes can be taken
    /// back by the journal.
    fn prepare(
        &mut self,
        device: Option<&BlockDevice>,
        setup: &Setup,
        start: Start,
        seed: u64,
        tools: &mut Tools<'_>,
    ) -> Result<Ground, LabError>;

    /// Unmounts, drops what the device's cache holds, and mounts again. The processes of the run
    /// that `rules` name may be in the way.
    fn remount(
        &mut self,
        device: Option<&BlockDevice>,
        ground: &Ground,
        setup: &Setup,
        rules: Rules<'_>,
    ) -> Result<(), LabError>;

    /// Unmounts, so that the last writes reach the device while its counters are still there.
    /// Does nothing where the filesystem stays.
    fn unmount(
        &mut self,
        device: Option<&BlockDevice>,
        ground: &Ground,
        setup: &Setup,
        rules: Rules<'_>,
    ) -> Result<(), LabError>;

    /// Runs the filesystem's own check when it is unmounted, and returns its command line; none
    /// where there is no such program, or where the filesystem stays.
    fn check(
        &self,
        _: Option<&BlockDevice>,
        _: &Ground,
        _: &Setup,
        _: Rules<'_>,
    ) -> Result<Option<String>, LabError> {
        Ok(None)
    }

    /// Asks the filesystem, when it is unmounted, where it keeps what on its device. Where nobody
    /// can tell, or the filesystem stays, nothing is known of any place.
    fn layout(&self, _: Option<&BlockDevice>, _: &Setup, _: Rules<'_>) -> Result<Layout, LabError> {
        Ok(Layout::unknown())
    }

    /// Mounts once more, looks whether what is stated about the filesystem is so, and unmounts;
    /// returns what is found, by the names of `filesystem::facts`. Nothing is looked at where the
    /// filesystem stays.
    fn features(
        &mut self,
        _: Option<&BlockDevice>,
        _: &Ground,
        _: &Setup,
        _: Rules<'_>,
    ) -> Result<BTreeMap<String, String>, LabError> {
        Ok(BTreeMap::new())
    }

    /// Called when a trial's changes have been taken back.
    fn finish_trial(&mut self, tools: &Tools<'_>) -> Result<(), LabError>;
}

/// The longest a look at a device may take when a lab is opened.
pub const LOOK: Duration = Duration::from_mins(1);
