//! Recovers a filesystem in a guest whose drive was changed under it, as by a power cut.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ssdlab_host::mounts::{self, Mounted};
use ssdlab_host::program::Rules;
use ssdlab_host::sysfs::BlockDevice;
use ssdlab_plan::Setup;

use super::block::Source as _;
use super::guest::GuestDrive;
use super::{LabError, Tools, format, mounting, settings};

/// How long a filesystem may stay busy after all its files were closed.
const PATIENCE: Duration = Duration::from_secs(10);

/// The drive of a guest that recovers one filesystem after the other.
#[derive(Debug)]
pub struct Recovery {
    device: BlockDevice,
    mount_point: PathBuf,
}

/// What came of a filesystem.
#[derive(Debug)]
pub struct Recovered<T> {
    /// How long replaying and mounting took and what was seen there, or why it cannot be mounted.
    pub mounted: Result<(Duration, T), LabError>,
    /// What the filesystem's own check says after that, if it finds something amiss.
    pub amiss: Option<String>,
}

impl Recovery {
    /// Opens the drive, and sets what the treatment asks of it.
    pub fn open(setup: &Setup, folder: &Path, tools: &mut Tools<'_>) -> Result<Self, LabError> {
        let mount_point = folder.join("recovered");
        fs::create_dir_all(&mount_point).map_err(LabError::step("make", &mount_point))?;
        let device = GuestDrive.attach(None, tools)?;
        settings::apply(&device, setup, tools)?;
        Ok(Self { device, mount_point })
    }

    /// Mounts what the drive holds now, which replays the journal or log, unless a program has to;
    /// looks at the directory of the trial, unmounts, and has the filesystem check itself.
    pub fn recover<T>(
        &self,
        setup: &Setup,
        rules: Rules<'_>,
        look: impl FnOnce(&Path) -> T,
    ) -> Result<Recovered<T>, LabError> {
        mounting::drop_caches(&self.device)?;
        let started = Instant::now();
        format::replay(&self.device, setup, rules)?;
        let mounted = mounting::mount(&self.device, setup, &self.mount_point);
        let took = started.elapsed();
        let mounted = mounted.map(|_| (took, look(&self.mount_point.join(super::DIRECTORY))));
        let ours = Mounted::Device(self.device.number.clone());
        mounts::unmount(&self.mount_point, &ours, rules.marker, PATIENCE)
            .map_err(LabError::step("unmount", &self.mount_point))?;
        mounting::drop_caches(&self.device)?;
        let checked = format::check(&self.device, setup, &self.mount_point, rules);
        let amiss = match checked {
            Ok(_) => None,
            Err(LabError::Damaged { said, .. }) => Some(said),
            Err(error) => return Err(error),
        };
        Ok(Recovered { mounted, amiss })
    }
}
