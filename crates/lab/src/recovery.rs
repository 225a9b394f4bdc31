//! Recovers a filesystem in a guest whose drive's contents were replaced, as by a power cut.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ssdlab_host::mounts::{self, MountIdentity};
use ssdlab_host::program::Rules;
use ssdlab_host::sysfs::BlockDevice;
use ssdlab_plan::Setup;

use super::block::{BlockLab, DeviceSource};
use super::lab::DIRECTORY;
use super::layout::Owners;
use super::{Lab, LabError, Tools, format, mounting, settings};

/// How long a filesystem may stay busy after all its files were closed.
const UNMOUNT_TIMEOUT: Duration = Duration::from_secs(10);

/// The drive of a guest that recovers one filesystem after the other.
#[derive(Debug)]
pub struct RecoveryDrive {
    device: BlockDevice,
    mount_point: PathBuf,
}

/// The outcome of recovering a filesystem.
#[derive(Debug)]
pub struct RecoveryOutcome<T> {
    /// The time to replay and mount it and the observations there, or why it cannot be mounted.
    pub mounted: Result<(Duration, T), LabError>,
    /// Whether the filesystem's own check finds it sound after that, or what it says; none if the
    /// filesystem has no check.
    pub checked: Option<Result<(), String>>,
}

impl RecoveryDrive {
    /// Opens the drive, and applies the treatment's settings to it.
    pub fn open(setup: &Setup, folder: &Path, tools: &mut Tools<'_>) -> Result<Self, LabError> {
        let mount_point = folder.join("recovered");
        fs::create_dir_all(&mount_point).map_err(LabError::step("make", &mount_point))?;
        let device = GuestDrive.attach(None, tools)?;
        settings::apply(&device, setup, tools)?;
        Ok(Self { device, mount_point })
    }

    /// Where it mounts.
    pub fn root(&self) -> &Path {
        &self.mount_point
    }

    /// Mounts the drive's current contents, which replays the journal or log, unless a program has
    /// to; examines the trial's directory, unmounts, and runs the filesystem's own check.
    pub fn recover<T>(
        &self,
        setup: &Setup,
        rules: Rules<'_>,
        look: impl FnOnce(&Path) -> T,
    ) -> Result<RecoveryOutcome<T>, LabError> {
        mounting::drop_caches(&self.device)?;
        let started = Instant::now();
        format::replay(&self.device, setup, rules)?;
        let mounted = mounting::mount(&self.device, setup, &self.mount_point);
        let took = started.elapsed();
        let mounted = mounted.map(|_| (took, look(&self.mount_point.join(DIRECTORY))));
        let ours = MountIdentity::Device(self.device.number.clone());
        mounts::unmount(&self.mount_point, &ours, rules.marker, UNMOUNT_TIMEOUT, || Ok(()))
            .map_err(LabError::step("unmount", &self.mount_point))?;
        Ok(RecoveryOutcome { mounted, checked: self.check(setup, rules)? })
    }

    /// Runs the filesystem's own check on the drive's current contents, which one that replays a
    /// journal may change. Returns whether it finds them sound, or what it says; none if the
    /// filesystem has no check.
    pub fn check(
        &self,
        setup: &Setup,
        rules: Rules<'_>,
    ) -> Result<Option<Result<(), String>>, LabError> {
        mounting::drop_caches(&self.device)?;
        match format::check(&self.device, setup, &self.mount_point, rules) {
            Ok(check) => Ok(check.map(|_| Ok(()))),
            Err(LabError::Damaged { said, .. }) => Ok(Some(Err(said))),
            Err(error) => Err(error),
        }
    }
}

/// The first disk the guest finds.
const DRIVE: &str = "/dev/vda";

#[derive(Debug)]
pub(super) struct GuestDrive;

/// Opens the lab inside a guest of the virtual lab.
pub fn open(tools: &mut Tools<'_>) -> Result<Box<dyn Lab>, LabError> {
    Ok(Box::new(BlockLab::new(GuestDrive, tools)?))
}

impl DeviceSource for GuestDrive {
    fn attach(&mut self, _: Option<&Path>, _: &mut Tools<'_>) -> Result<BlockDevice, LabError> {
        let node = Path::new(DRIVE);
        let device = BlockDevice::open(node).map_err(LabError::step("open", node))?;
        // The virtio driver marks every disk as rotational, which btrfs and bfq use.
        let rotational = device.queue_attribute("rotational");
        fs::write(&rotational, "0").map_err(LabError::step("set", &rotational))?;
        Ok(device)
    }

    fn owners(&self) -> Owners {
        Owners::Told
    }

    fn may_fail(&self) -> bool {
        false
    }

    fn facts(&self, device: &BlockDevice) -> Vec<(String, String)> {
        let bytes = device.size_bytes().unwrap_or(0);
        vec![("drive_bytes".to_owned(), bytes.to_string())]
    }
}
