//! What every lab does, and the ground of a trial that it makes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ssdlab_filesystem::Layout;
use ssdlab_host::mounts::Mount;
use ssdlab_host::program::Rules;
use ssdlab_host::sysfs::BlockDevice;
use ssdlab_host::undo::Journal;
use ssdlab_plan::Setup;

use super::{ExistingDrive, LabError, mounting};

/// The workload's directory in a filesystem that a lab has made.
pub(super) const DIRECTORY: &str = "ssdlab";

/// The time limit for surveying a device when a lab is opened.
pub const SURVEY_TIMEOUT: Duration = Duration::from_mins(1);

/// What a lab needs to change the machine and to stop in time.
#[derive(Debug)]
pub struct Tools<'a> {
    /// Where changes are recorded before they are made.
    pub journal: &'a mut Journal,
    /// The rules for programs it runs.
    pub rules: Rules<'a>,
}

/// The ground of one trial: a directory, and the device under it.
#[derive(Debug)]
pub struct MountedFs {
    /// An empty directory for the workload's exclusive use.
    pub directory: PathBuf,
    /// Where the filesystem is mounted (in the directory lab: the directory that was given).
    pub mounted_at: PathBuf,
    /// Whether others use the device, too, so that it may never fall quiet.
    pub is_shared: bool,
    /// The command that commits what sync(2) leaves in memory; empty if it leaves nothing.
    pub commit: Vec<String>,
    /// Whether the filesystem compresses, so that less may reach the device than is written.
    pub compresses: bool,
    /// Every setting as the kernel or mkfs reports it.
    pub applied: BTreeMap<String, String>,
}

impl MountedFs {
    /// A directory of a filesystem that was mounted before and has other users.
    pub(super) fn of_others(
        mount: &Mount,
        directory: PathBuf,
        applied: BTreeMap<String, String>,
    ) -> Self {
        Self {
            directory,
            mounted_at: mount.target.clone(),
            is_shared: true,
            commit: Vec::new(),
            compresses: mounting::compresses(&applied),
            applied,
        }
    }
}

/// The contents of a device before a trial's ground is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceContents {
    /// Nothing: the filesystem will be made.
    Blank,
    /// The filesystem of the setup, which will be mounted unchanged.
    Aged,
}

/// A place to run trials.
pub trait Lab {
    /// Why this treatment cannot run here at all; `None` if it can.
    fn missing(&self, setup: &Setup) -> Option<String>;

    /// The drive of all trials, if it existed before; none if devices are made, or belong to
    /// somebody else.
    fn drive(&self) -> Option<ExistingDrive> {
        None
    }

    /// Provides the place of the next trial, on which everything below then works, and returns its
    /// block device, if it has one, for meters. If devices are our own files, it may be a copy of a
    /// cached one.
    fn attach(
        &mut self,
        kept: Option<&Path>,
        tools: &mut Tools<'_>,
    ) -> Result<Option<BlockDevice>, LabError>;

    /// The file behind the device, if it is our own file.
    fn file(&self) -> Option<&Path> {
        None
    }

    /// Whether writes to the device may fail.
    fn may_fail(&self) -> bool {
        true
    }

    /// Makes the ground of a trial. All changes can be undone by the journal.
    fn prepare(
        &mut self,
        setup: &Setup,
        start: DeviceContents,
        seed: u64,
        tools: &mut Tools<'_>,
    ) -> Result<MountedFs, LabError>;

    /// Unmounts, drops the device's cache, and mounts again. Processes of the run named by `rules`
    /// are ended if they block it.
    fn remount(
        &mut self,
        mounted_fs: &MountedFs,
        setup: &Setup,
        rules: Rules<'_>,
    ) -> Result<(), LabError>;

    /// Unmounts, so that the last writes reach the device while its counters still exist. Does
    /// nothing if the filesystem is not ours.
    fn unmount(
        &mut self,
        mounted_fs: &MountedFs,
        setup: &Setup,
        rules: Rules<'_>,
    ) -> Result<(), LabError>;

    /// Takes back, at the end of a stretch of the machine's time and still counted in it, what may
    /// write when it ends: the user's own change.
    fn end_stretch(&mut self, _: &mut Journal) -> Result<(), LabError> {
        Ok(())
    }

    /// Runs the unmounted filesystem's own check, and returns its command line; `None` if there is
    /// no such program, or if the filesystem is not ours.
    fn check(&self, _: &MountedFs, _: &Setup, _: Rules<'_>) -> Result<Option<String>, LabError> {
        Ok(None)
    }

    /// Queries the layout of the unmounted filesystem; unknown if no tool reports it, or if the
    /// filesystem is not ours.
    fn layout(&self, _: &Setup, _: Rules<'_>) -> Result<Layout, LabError> {
        Ok(Layout::unknown())
    }

    /// Mounts once more, checks the stated facts about the filesystem, and unmounts; returns the
    /// results, by the names in `filesystem::facts`. Checks nothing if the filesystem is not ours.
    fn features(
        &mut self,
        _: &MountedFs,
        _: &Setup,
        _: Rules<'_>,
    ) -> Result<BTreeMap<String, String>, LabError> {
        Ok(BTreeMap::new())
    }

    /// Called when a trial's changes have been undone.
    fn finish_trial(&mut self, tools: &Tools<'_>) -> Result<(), LabError>;
}
