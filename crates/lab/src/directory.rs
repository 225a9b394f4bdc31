//! The directory lab: an existing directory on a filesystem that somebody else made.
//!
//! Nothing about the filesystem can be set, so a treatment runs only if it describes the existing
//! state; the others keep a row with both values.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::Access;
use ssdlab_host::mounts::{self, Mount};
use ssdlab_host::program::Rules;
use ssdlab_host::sysfs::{self, BlockDevice};
use ssdlab_plan::{Discard, Setup};

use super::held::HeldFolder;
use super::lab::DIRECTORY;
use super::mounting::MountedBy;
use super::{DeviceContents, Lab, LabError, MountedFs, Tools, attribute, mounting, settings};

#[derive(Debug)]
pub(super) struct DirectoryLab {
    path: PathBuf,
    mount: Mount,
    device: Option<BlockDevice>,
    /// The folder of the current trial.
    held: Option<HeldFolder>,
}

pub fn open(path: &Path) -> Result<Box<dyn Lab>, LabError> {
    let path = path.canonicalize().map_err(LabError::step("use the directory", path))?;
    if !path.is_dir() {
        let cause = io::Error::from(io::ErrorKind::NotADirectory);
        return Err(LabError::step("use the directory", &path)(cause));
    }
    // Every trial makes a folder in it.
    rustix::fs::access(&path, Access::WRITE_OK | Access::EXEC_OK)
        .map_err(|errno| LabError::step("write into the directory", &path)(errno.into()))?;
    let mount = mounts::containing(&path)
        .and_then(|mount| {
            mount.ok_or_else(|| {
                io::Error::other(
                    "it is not in any mounted filesystem; in a chroot, bind-mount it there",
                )
            })
        })
        .map_err(LabError::step("find the filesystem of", &path))?;
    let device = BlockDevice::numbered(&mount.device).ok();
    Ok(Box::new(DirectoryLab { path, mount, device, held: None }))
}

impl DirectoryLab {
    /// Explains that the filesystem is not the one a treatment describes.
    fn differs(&self, error: LabError) -> String {
        let place = self.mount.target.display();
        let LabError::Mismatch { what, asked, found } = error else { return error.to_string() };
        let hint = if found == self.mount.kind { "; --set filesystem=any accepts any" } else { "" };
        format!(
            "the directory lab uses {place} unchanged: {what} is `{found}`, not `{asked}`{hint}"
        )
    }
}

impl Lab for DirectoryLab {
    fn missing(&self, setup: &Setup) -> Option<String> {
        if setup.age.is_some() {
            return Some("the directory lab does not age somebody else's filesystem".to_owned());
        }
        if setup.prefill.is_some() {
            return Some("the directory lab does not fill somebody else's filesystem".to_owned());
        }
        if setup.discard == Some(Discard::Fstrim) {
            return Some(
                "fstrim would trim the whole filesystem, which does not belong to the trial"
                    .to_owned(),
            );
        }
        if setup.driver.is_some() {
            return Some("the directory lab does not choose what mounts a filesystem".to_owned());
        }
        let is_made = setup.settings.iter().any(|chosen| chosen.setting.is_made());
        if !setup.mkfs.is_empty() || setup.journal.is_some() || is_made {
            return Some("the directory lab makes no filesystem".to_owned());
        }
        let options = match (setup.filesystem, &self.device) {
            (Some(filesystem), Some(device)) => mounting::driver_options(filesystem, device),
            _ => Vec::new(),
        };
        if let Err(error) = mounting::check(setup, &self.mount, &options, MountedBy::Other) {
            return Some(self.differs(error));
        }
        let attribute = |name| {
            let text = sysfs::read(&self.device.as_ref()?.queue_attribute(name)).ok()?;
            Some(sysfs::selected(&text))
        };
        let asked_scheduler = setup.scheduler.map(str::to_owned);
        if asked_scheduler.is_some() && attribute("scheduler") != asked_scheduler {
            return Some("the directory lab cannot set the scheduler".to_owned());
        }
        if !setup.tunables.is_empty() {
            return Some("the directory lab cannot set the scheduler's tunables".to_owned());
        }
        if !setup.queue.is_empty() {
            return Some("the directory lab cannot set attributes of the queue".to_owned());
        }
        setup.write_cache.map(|_| "the directory lab cannot set the write cache".to_owned())
    }

    fn attach(
        &mut self,
        _: Option<&Path>,
        _: &mut Tools<'_>,
    ) -> Result<Option<BlockDevice>, LabError> {
        Ok(self.device.clone())
    }

    fn prepare(
        &mut self,
        setup: &Setup,
        _start: DeviceContents,
        _seed: u64,
        tools: &mut Tools<'_>,
    ) -> Result<MountedFs, LabError> {
        let (held, _) = HeldFolder::make(&self.path, tools.journal)?;
        attribute::set(&held.path(), setup)?;
        // Inside it, because files are also made beside the workload's directory.
        let directory = held.path().join(DIRECTORY);
        fs::create_dir(&directory).map_err(LabError::step("make", &directory))?;
        self.held = Some(held);
        let mut applied = BTreeMap::from(mounting::reported(&self.mount));
        applied.extend(self.device.iter().flat_map(settings::recorded));
        Ok(MountedFs::of_others(&self.mount, directory, applied))
    }

    fn remount(&mut self, mounted_fs: &MountedFs, _: &Setup, _: Rules<'_>) -> Result<(), LabError> {
        Err(LabError::Unavailable {
            reason: format!(
                "the directory lab does not remount {}: caches are kept",
                mounted_fs.mounted_at.display()
            ),
        })
    }

    fn unmount(&mut self, _: &MountedFs, _: &Setup, _: Rules<'_>) -> Result<(), LabError> {
        Ok(())
    }

    fn finish_trial(&mut self, _: &Tools<'_>) -> Result<(), LabError> {
        Ok(())
    }
}
