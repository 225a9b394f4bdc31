//! The common part of the labs with a block device: settings, mkfs, mount, remount.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ssdlab_filesystem::Layout;
use ssdlab_host::mounts::{self, MountIdentity};
use ssdlab_host::program::{self, Rules};
use ssdlab_host::sysfs::BlockDevice;
use ssdlab_host::undo::Change;
use ssdlab_plan::{CAPACITY_BYTES, Setup};

use super::format::missing;
use super::lab::DIRECTORY;
use super::layout::Owners;
use super::{
    DeviceContents, ExistingDrive, Lab, LabError, MountedFs, Tools, attribute, features, format,
    layer, layout, mounting, pool, settings,
};

/// How long a workload's processes may keep the filesystem busy after they are told to end.
const UNMOUNT_TIMEOUT: Duration = Duration::from_secs(10);

/// Where a lab's block device comes from.
pub(super) trait DeviceSource {
    /// Provides the device of a trial, in the same state for every trial: free of signatures, or a
    /// copy of a cached file if devices are files.
    fn attach(
        &mut self,
        kept: Option<&Path>,
        tools: &mut Tools<'_>,
    ) -> Result<BlockDevice, LabError>;

    /// The file behind the device, if it is one of ours.
    fn file(&self) -> Option<&Path> {
        None
    }

    /// The drive, if it existed before.
    fn drive(&self) -> Option<ExistingDrive> {
        None
    }

    /// How its kernel reports the owners of written bytes.
    fn owners(&self) -> Owners {
        Owners::Marked
    }

    /// Whether writes to it may fail: a simulated drive performs all.
    fn may_fail(&self) -> bool {
        true
    }

    /// Properties to record.
    fn facts(&self, device: &BlockDevice) -> Vec<(String, String)>;

    /// Called when mkfs and mount are about to claim the device.
    fn hand_over(&mut self) -> Result<(), LabError> {
        Ok(())
    }

    /// Called when the filesystem is unmounted and the trial's changes are undone.
    fn take_back(&mut self, _: &Tools<'_>) -> Result<(), LabError> {
        Ok(())
    }
}

/// A lab that makes a filesystem on a block device for every trial.
#[derive(Debug)]
pub(super) struct BlockLab<S> {
    source: S,
    mount_point: PathBuf,
    /// The trial's device.
    drive: Option<BlockDevice>,
    /// The device above the trial's layer, if it has one: the filesystem is on it.
    above: Option<BlockDevice>,
    /// The daemon that serves the trial's filesystem.
    daemon: Option<program::Daemon>,
}

impl<S: DeviceSource> BlockLab<S> {
    /// Makes the mount point, in a folder that nobody else can write to, so that it cannot be
    /// replaced by a link.
    pub fn new(source: S, tools: &mut Tools<'_>) -> Result<Self, LabError> {
        let name = format!("ssdlab-{}", tools.journal.marker());
        let folder = tools.journal.private_folder().join(name);
        let mount_point = folder.join("mnt");
        tools.journal.make_folder(&folder).map_err(LabError::step("make", &folder))?;
        fs::create_dir(&mount_point).map_err(LabError::step("make", &mount_point))?;
        Ok(Self { source, mount_point, drive: None, above: None, daemon: None })
    }
}

impl<S> BlockLab<S> {
    fn attached(&self) -> Result<&BlockDevice, LabError> {
        self.drive.as_ref().ok_or_else(|| LabError::Unavailable {
            reason: "no device is attached for this trial".to_owned(),
        })
    }

    /// The device with the trial's filesystem: the drive, or what is above its layer.
    fn filesystem_device(&self) -> Result<&BlockDevice, LabError> {
        self.above.as_ref().map_or_else(|| self.attached(), Ok)
    }

    /// The folder that nobody else can write to.
    fn folder(&self) -> &Path {
        self.mount_point.parent().expect("the mount point is in a folder of ours")
    }
}

impl<S: DeviceSource> Lab for BlockLab<S> {
    fn missing(&self, setup: &Setup) -> Option<String> {
        missing(mounting::made(setup))
    }

    fn drive(&self) -> Option<ExistingDrive> {
        self.source.drive()
    }

    fn attach(
        &mut self,
        kept: Option<&Path>,
        tools: &mut Tools<'_>,
    ) -> Result<Option<BlockDevice>, LabError> {
        self.drive = Some(self.source.attach(kept, tools)?);
        Ok(self.drive.clone())
    }

    fn file(&self) -> Option<&Path> {
        self.source.file()
    }

    fn may_fail(&self) -> bool {
        self.source.may_fail()
    }

    fn prepare(
        &mut self,
        setup: &Setup,
        start: DeviceContents,
        seed: u64,
        tools: &mut Tools<'_>,
    ) -> Result<MountedFs, LabError> {
        let drive = &self.attached()?.clone();
        if start != DeviceContents::Blank && mounting::made(setup).pool.is_some() {
            // The pool's name and mount point belong to the run that made it.
            let name = mounting::made(setup).name;
            return Err(LabError::Unavailable {
                reason: format!("an aged {name} cannot be reused"),
            });
        }
        let mut applied = settings::apply(drive, setup, tools)?;
        applied.extend(self.source.facts(drive));
        self.source.hand_over()?;
        if let Some(layer) = &setup.simulated.layer {
            let (above, described) = layer::set_up(layer, drive, seed, self.folder(), tools.rules)?;
            self.above = Some(above);
            applied.insert("layer".to_owned(), described);
        }
        let device = &self.filesystem_device()?.clone();
        let target = self.mount_point.clone();
        let filesystem = mounting::made(setup);
        let rules = tools.rules;
        if let Some(pool) = filesystem.pool {
            self.daemon = pool::serve(filesystem, pool, tools)?;
        }
        tools
            .journal
            .will(Change::Mount { target: target.clone(), mounted: ours(device, setup, rules) })
            .map_err(LabError::step("journal the mount on", &target))?;
        if start == DeviceContents::Blank {
            applied.extend(format::make(device, setup, seed, &target, rules)?);
            if filesystem.pool.is_some() {
                // Creating a pool mounts it.
                applied.extend(pool::properties(device, setup, &target, &applied["mkfs"], rules)?);
                let_go(device, setup, &target, rules)?;
            }
        }
        // A cached filesystem starts without what mkfs leaves in the device's cache.
        mounting::drop_caches(device)?;
        applied.extend(format::read_back(device, setup)?);
        let started = Instant::now();
        applied.extend(take(device, setup, &target, rules)?);
        if let Ok(bytes) = drive.size_bytes() {
            applied.insert(CAPACITY_BYTES.to_owned(), bytes.to_string());
        }
        applied.insert("mount_ns".to_owned(), started.elapsed().as_nanos().to_string());
        attribute::set(&target, setup)?;
        let directory = target.join(DIRECTORY);
        fs::create_dir(&directory).map_err(LabError::step("make", &directory))?;
        let commit = pool::commit(filesystem, rules.marker)?;
        let compresses = mounting::compresses(&applied);
        Ok(MountedFs {
            directory,
            mounted_at: target,
            is_shared: false,
            commit,
            compresses,
            applied,
        })
    }

    fn remount(
        &mut self,
        mounted_fs: &MountedFs,
        setup: &Setup,
        rules: Rules<'_>,
    ) -> Result<(), LabError> {
        self.unmount(mounted_fs, setup, rules)?;
        let device = self.filesystem_device()?;
        mounting::drop_caches(device)?;
        take(device, setup, &mounted_fs.mounted_at, rules)?;
        Ok(())
    }

    fn unmount(
        &mut self,
        mounted_fs: &MountedFs,
        setup: &Setup,
        rules: Rules<'_>,
    ) -> Result<(), LabError> {
        // A daemon lets go of a file that was opened only some time later, and its pool is busy.
        if self.may_fail() && mounting::made(setup).pool.is_none() {
            write_back(&mounted_fs.mounted_at)?;
        }
        let_go(self.filesystem_device()?, setup, &mounted_fs.mounted_at, rules)
    }

    fn check(
        &self,
        mounted_fs: &MountedFs,
        setup: &Setup,
        rules: Rules<'_>,
    ) -> Result<Option<String>, LabError> {
        format::check(self.filesystem_device()?, setup, &mounted_fs.mounted_at, rules)
    }

    fn layout(&self, setup: &Setup, rules: Rules<'_>) -> Result<Layout, LabError> {
        if let Some(layer) = &setup.simulated.layer {
            let reason = format!("the drive's requests are those of {layer}");
            return Err(LabError::Unavailable { reason });
        }
        layout::of(self.attached()?, setup, self.source.owners(), self.folder(), rules)
    }

    fn features(
        &mut self,
        mounted_fs: &MountedFs,
        setup: &Setup,
        rules: Rules<'_>,
    ) -> Result<BTreeMap<String, String>, LabError> {
        self.remount(mounted_fs, setup, rules)?;
        let filesystem = mounting::made(setup);
        let on = self.filesystem_device()?;
        let found = features::check(filesystem, on, setup, &mounted_fs.mounted_at, rules)?;
        self.unmount(mounted_fs, setup, rules)?;
        Ok(found)
    }

    fn finish_trial(&mut self, tools: &Tools<'_>) -> Result<(), LabError> {
        self.daemon = None;
        self.above = None;
        self.drive = None;
        self.source.take_back(tools)
    }
}

/// Mounts the filesystem, and returns the active options.
fn take(
    device: &BlockDevice,
    setup: &Setup,
    target: &Path,
    rules: Rules<'_>,
) -> Result<BTreeMap<String, String>, LabError> {
    match mounting::made(setup).pool {
        None => mounting::mount(device, setup, target),
        Some(pool) => pool::mount(pool, device, setup, target, rules),
    }
}

/// How the mount table identifies the mount.
fn ours(device: &BlockDevice, setup: &Setup, rules: Rules<'_>) -> MountIdentity {
    match mounting::made(setup).pool {
        None => MountIdentity::Device(device.number.clone()),
        Some(_) => MountIdentity::Source(pool::name(rules.marker)),
    }
}

/// Writes what is in the filesystem's cache, if it is mounted: unmounting does so, too, but tells
/// nobody of a write that failed. One that failed earlier is reported as well, unless that has been
/// done (syncfs(2); Linux 5.8).
pub(super) fn write_back(target: &Path) -> Result<(), LabError> {
    let is_mounted = mounts::at(target).map_err(LabError::step("look for the mount on", target))?;
    if is_mounted.is_none() {
        return Ok(());
    }
    let sync = || Ok(rustix::fs::syncfs(File::open(target)?)?);
    sync().map_err(LabError::step("write to its device all of the filesystem on", target))
}

/// Unmounts it, so that the device is unused. It may be unmounted already.
fn let_go(
    device: &BlockDevice,
    setup: &Setup,
    target: &Path,
    rules: Rules<'_>,
) -> Result<(), LabError> {
    let mount = mounts::at(target).map_err(LabError::step("look for the mount on", target))?;
    let filesystem = mounting::made(setup);
    let pool = filesystem.pool.filter(|_| mount.is_some());
    let before = || pool.map_or(Ok(()), |_| pool::drain(target));
    mounts::unmount(target, &ours(device, setup, rules), rules.marker, UNMOUNT_TIMEOUT, before)
        .map_err(LabError::step("unmount", target))?;
    pool.map_or(Ok(()), |pool| pool::export(filesystem, pool, device, target, rules))
}
