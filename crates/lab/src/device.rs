//! The device lab: a real drive or partition, which is wiped.
//!
//! The device is claimed (`O_EXCL`) for the whole run, except while mkfs and the mounted filesystem
//! hold that claim themselves: the kernel allows only one, so it is handed over and taken back;
//! meanwhile the disk's lock keeps udev and its helpers away. Whenever it is claimed again, before
//! and after every trial, it is surveyed again: if the name now belongs to another drive, somebody
//! has begun to use the device, or it carries what this run has not made, it is not written to.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use ssdlab_host::sysfs::{self, BlockDevice};
use ssdlab_host::{block_ioctl, program};
use ssdlab_plan::{EQUALISED, NOT_EQUALISED};

use super::block::{BlockLab, DeviceSource};
use super::safety::{self, Survey};
use super::survey::{claim, identity, lasting_identity, survey, survey_claimed};
use super::{ExistingDrive, Lab, LabError, Tools, blank, settings};

/// How long to wait for a claim or the disk's lock that is being released.
const CLAIM_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct TargetDevice {
    /// The device as it was found when it was judged.
    found: BlockDevice,
    /// What was judged; its signatures are those that may be destroyed now.
    judged: Survey,
    /// Whether all that it carries is of this run's trial.
    is_ours: bool,
    claim: Option<File>,
    /// The lock of the whole disk, which also keeps its number from being reused.
    _lock: File,
}

/// Opens the device lab on a drive or a partition, unless that is impossible or unsafe.
pub fn open(
    named: &Path,
    wipe: Option<&str>,
    tools: &mut Tools<'_>,
) -> Result<Box<dyn Lab>, LabError> {
    LabError::check_root("device", "makes and mounts filesystems")?;
    // A link is followed once; from here on the kernel's own node is meant.
    let found = BlockDevice::open(named).map_err(LabError::step("use the device", named))?;
    let node = found.node.clone();
    let judged = survey(&node, tools)?;
    safety::judge(&judged, wipe)?;
    let held = claim(&node).map_err(LabError::step("claim", &node))?;
    let lock = lock(&found)?;
    // Changes between the survey and the claim must not be destroyed unseen.
    let claimed = survey_claimed(&node, &held, tools)?;
    let destroyed = safety::judge(&claimed, wipe)?;
    safety::compare(&judged, &claimed)?;
    for line in &destroyed {
        // A closed standard error is ignored.
        let _ = writeln!(io::stderr(), "will be destroyed on {judged}: {line}");
    }
    let device = TargetDevice { found, judged, is_ours: false, claim: Some(held), _lock: lock };
    Ok(Box::new(BlockLab::new(device, tools)?))
}

/// Takes the lock that udev and partitioning tools respect (systemd's block device locking): while
/// it is held, nobody probes the disk or mounts what appears on it.
fn lock(device: &BlockDevice) -> Result<File, LabError> {
    let disk = device.disk_folder();
    let node = Path::new("/dev").join(disk.file_name().unwrap_or_default());
    let file = File::open(&node).map_err(LabError::step("open", &node))?;
    let take = || Ok(flock(&file, FlockOperation::NonBlockingLockExclusive)?);
    patiently(io::ErrorKind::WouldBlock, take).map_err(|error| {
        let is_held = error.kind() == io::ErrorKind::WouldBlock;
        let step = if is_held { "lock (another program is using it)" } else { "lock" };
        LabError::step(step, &node)(error)
    })?;
    Ok(file)
}

/// Retries while the device is in use, possibly for only a moment: by a child of ours whose last
/// descriptor is being closed, or by udev, which probes a written disk.
fn patiently<T>(in_the_way: io::ErrorKind, act: impl Fn() -> io::Result<T>) -> io::Result<T> {
    let started = Instant::now();
    loop {
        match act() {
            Err(error) if error.kind() == in_the_way && started.elapsed() < CLAIM_TIMEOUT => {
                sleep(Duration::from_millis(5));
            }
            done => return done,
        }
    }
}

impl TargetDevice {
    /// Compares the claimed device, and the one that its name refers to now, with the one that was
    /// judged: programs are given the name.
    fn check_identity(&self) -> Result<(), LabError> {
        let node = &self.judged.node;
        let named = File::open(node).map_err(LabError::step("find", node))?;
        for held in self.claim.iter().chain([&named]) {
            let found = identity(held).map_err(LabError::step("identify", node))?;
            safety::same_device(node, &self.judged.identity, &found)?;
        }
        Ok(())
    }

    fn described(&self) -> ExistingDrive {
        let Survey { node, names, model, identity, .. } = self.judged.clone();
        ExistingDrive { node, names, model, size_bytes: identity.size_bytes }
    }

    fn discards(&self) -> bool {
        let limit = self.found.queue_attribute("discard_max_bytes");
        sysfs::read(&limit).is_ok_and(|bytes| bytes != "0")
    }

    /// Discards every block, if the drive supports it: the state every trial starts from.
    fn discard_all(&self) -> Result<(), LabError> {
        let node = &self.judged.node;
        if !self.discards() {
            return Ok(());
        }
        let Some(held) = &self.claim else {
            return Err(LabError::step("discard", node)(io::Error::other("it is not claimed")));
        };
        block_ioctl::discard(held, self.judged.identity.size_bytes)
            .map_err(LabError::step("discard", node))
    }

    /// Surveys the device, which may have been in other hands, with a claim; refuses it if it is in
    /// use now.
    fn survey_again(&mut self, tools: &Tools<'_>) -> Result<Survey, LabError> {
        let held = match self.claim.take() {
            Some(held) => held,
            None => self.claimed()?,
        };
        let found = survey_claimed(&self.judged.node, &held, tools);
        self.claim = Some(held);
        self.check_identity()?;
        let found = found?;
        safety::judge_use(&found)?;
        Ok(found)
    }

    /// Erases the signatures; wipefs claims the device itself and refuses one that is in use.
    fn erase_signatures(&mut self, tools: &Tools<'_>) -> Result<(), LabError> {
        self.check_identity()?;
        self.claim = None;
        let mut command = Command::new(program::find("wipefs", "util-linux")?);
        command.args(["--all", "--quiet"]).arg(&self.judged.node);
        program::run(command, tools.rules)?;
        self.claim = Some(self.claimed()?);
        self.check_identity()?;
        self.blank()?;
        self.judged.signatures.clear();
        Ok(())
    }

    /// Claims the device after a child that had it has ended; the last close may still be pending.
    fn claimed(&self) -> Result<File, LabError> {
        let node = &self.judged.node;
        patiently(io::ErrorKind::ResourceBusy, || claim(node))
            .map_err(LabError::step("claim", node))
    }

    /// Writes zeros wherever a survey looks for data, so that the device is blank again.
    fn blank(&self) -> Result<(), LabError> {
        let node = &self.judged.node;
        let Some(held) = &self.claim else {
            return Err(LabError::step("blank", node)(io::Error::other("it is not claimed")));
        };
        blank::erase(held, &lasting_identity(&self.found)).map_err(LabError::step("blank", node))
    }
}

impl DeviceSource for TargetDevice {
    fn attach(&mut self, _: Option<&Path>, tools: &mut Tools<'_>) -> Result<BlockDevice, LabError> {
        self.check_identity()?;
        let found = self.survey_again(tools)?;
        safety::compare(&self.judged, &found)?;
        self.is_ours = true;
        self.discard_all()?;
        self.erase_signatures(tools)?;
        Ok(self.found.clone())
    }

    fn facts(&self, device: &BlockDevice) -> Vec<(String, String)> {
        let mut facts: Vec<_> = settings::recorded(device).into_iter().collect();
        let equalised = if self.discards() { "discarded" } else { NOT_EQUALISED };
        facts.push((EQUALISED.to_owned(), equalised.to_owned()));
        facts.extend(self.described().facts());
        facts
    }

    fn drive(&self) -> Option<ExistingDrive> {
        Some(self.described())
    }

    fn hand_over(&mut self) -> Result<(), LabError> {
        self.check_identity()?;
        self.claim = None;
        Ok(())
    }

    /// A trial leaves the device as blank as it was found, so that the next run needs no
    /// `--wipe` for what this one made.
    fn take_back(&mut self, tools: &Tools<'_>) -> Result<(), LabError> {
        // A trial that did not begin has made nothing.
        if !std::mem::take(&mut self.is_ours) {
            return Ok(());
        }
        self.survey_again(tools)?;
        self.erase_signatures(tools)
    }
}
