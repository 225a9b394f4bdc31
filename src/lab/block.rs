//! What the labs with a block device of their own share: settings, mkfs, mount, remount.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{Ground, Lab, LabError, Start, Tools, format, mounting, settings};
use crate::filesystem::Filesystem;
use crate::host::program::{self, ProgramError, Rules};
use crate::host::sysfs::BlockDevice;
use crate::host::{kernel, mounts};
use crate::plan::Setup;
use crate::undo::Change;

/// How long a workload's processes may keep the filesystem busy once they are told to end.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where a lab's block device comes from.
pub(super) trait Source {
    /// Provides the device of a trial, in the same state for every trial: free of signatures, or a
    /// copy of a kept file where the device is one.
    fn attach(
        &mut self,
        kept: Option<&Path>,
        tools: &mut Tools<'_>,
    ) -> Result<BlockDevice, LabError>;

    /// The file that stands for the device, where it is a file of ours.
    fn file(&self) -> Option<&Path> {
        None
    }

    /// What is worth recording about it.
    fn facts(&self, device: &BlockDevice) -> Vec<(String, String)>;

    /// Called when mkfs and mount are about to claim the device.
    fn hand_over(&mut self) -> Result<(), LabError> {
        Ok(())
    }

    /// Called when the filesystem is unmounted and the trial's changes are taken back.
    fn take_back(&mut self, _: &Tools<'_>) -> Result<(), LabError> {
        Ok(())
    }
}

/// The device of a trial: this lab always attaches one.
fn attached(device: Option<&BlockDevice>) -> &BlockDevice {
    device.expect("this lab attaches a device")
}

/// What this machine lacks to make and mount a filesystem; `None` if nothing.
#[must_use]
pub fn missing(filesystem: &Filesystem) -> Option<String> {
    no_mkfs(filesystem).or_else(|| {
        (!kernel::has_filesystem(filesystem.name))
            .then(|| format!("this kernel has no {}", filesystem.name))
    })
}

/// Why this machine cannot even make a filesystem; `None` if it can.
#[must_use]
pub fn no_mkfs(filesystem: &Filesystem) -> Option<String> {
    match program::find(filesystem.mkfs, filesystem.package) {
        Err(ProgramError::Missing { program, package }) => {
            Some(format!("{program} is not installed (package {package})"))
        }
        _ => None,
    }
}

/// A lab that makes a filesystem on a block device for every trial.
#[derive(Debug)]
pub(super) struct BlockLab<S> {
    source: S,
    mount_point: PathBuf,
}

impl<S: Source> BlockLab<S> {
    /// Makes the mount point, in a folder that nobody else can write to: a link in its place would
    /// be mounted over.
    pub fn new(source: S, tools: &mut Tools<'_>) -> Result<Self, LabError> {
        let name = format!("ssdlab-{}", tools.journal.marker());
        let folder = tools.journal.private_folder().join(name);
        let mount_point = folder.join("mnt");
        tools.journal.make_folder(&folder).map_err(LabError::step("make", &folder))?;
        fs::create_dir(&mount_point).map_err(LabError::step("make", &mount_point))?;
        Ok(Self { source, mount_point })
    }
}

impl<S: Source> Lab for BlockLab<S> {
    fn missing(&self, setup: &Setup) -> Option<String> {
        missing(mounting::made(setup))
    }

    fn attach(
        &mut self,
        kept: Option<&Path>,
        tools: &mut Tools<'_>,
    ) -> Result<Option<BlockDevice>, LabError> {
        self.source.attach(kept, tools).map(Some)
    }

    fn file(&self) -> Option<&Path> {
        self.source.file()
    }

    fn prepare(
        &mut self,
        device: Option<&BlockDevice>,
        setup: &Setup,
        start: Start,
        seed: u64,
        tools: &mut Tools<'_>,
    ) -> Result<Ground, LabError> {
        let device = attached(device);
        let mut applied = settings::apply(device, setup, tools)?;
        applied.extend(self.source.facts(device));
        self.source.hand_over()?;
        if start == Start::Blank {
            applied.extend(format::make(device, setup, seed, tools)?);
        }
        let target = self.mount_point.clone();
        tools
            .journal
            .will(Change::Mount { target: target.clone() })
            .map_err(LabError::step("journal the mount on", &target))?;
        // What mkfs has left in the device's cache is not there on a disk that was made earlier.
        mounting::drop_caches(device)?;
        let started = Instant::now();
        applied.extend(mounting::mount(device, setup, &target)?);
        applied.insert("mount_ns".to_owned(), started.elapsed().as_nanos().to_string());
        mounting::set_attribute(&target, setup)?;
        let directory = target.join("ssdlab");
        fs::create_dir(&directory).map_err(LabError::step("make", &directory))?;
        Ok(Ground { directory, mounted_at: target, is_shared: false, applied })
    }

    fn remount(
        &mut self,
        device: Option<&BlockDevice>,
        ground: &Ground,
        setup: &Setup,
        marker: &str,
    ) -> Result<(), LabError> {
        let device = attached(device);
        self.unmount(ground, marker)?;
        mounting::drop_caches(device)?;
        mounting::mount(device, setup, &ground.mounted_at)?;
        Ok(())
    }

    fn unmount(&mut self, ground: &Ground, marker: &str) -> Result<(), LabError> {
        mounts::unmount(&ground.mounted_at, marker, PATIENCE)
            .map_err(LabError::step("unmount", &ground.mounted_at))
    }

    fn check(
        &self,
        device: Option<&BlockDevice>,
        setup: &Setup,
        rules: Rules<'_>,
    ) -> Result<Option<String>, LabError> {
        format::check(attached(device), setup, rules)
    }

    fn finish_trial(&mut self, tools: &Tools<'_>) -> Result<(), LabError> {
        self.source.take_back(tools)
    }
}
