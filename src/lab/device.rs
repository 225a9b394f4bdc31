//! The device lab: a real drive or partition, which is wiped.
//!
//! The device is claimed (`O_EXCL`) for the whole run, except while mkfs and the mounted
//! filesystem hold that same claim themselves: the kernel knows one claim, so it is handed over
//! and taken back. Before every trial the device is compared with the one that was judged; a
//! name that meanwhile means another drive ends the run.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::process::Command;

use rustix::ioctl::{self, Setter};

use super::block::{BlockLab, Source};
use super::safety::{self, Survey};
use super::survey::{claim, survey};
use super::{LabError, Tools, settings};
use crate::host::program;
use crate::host::sysfs::{self, BlockDevice};
use crate::plan::schedule::Target;

#[derive(Debug)]
pub(super) struct Device {
    /// The device as it was found when it was judged.
    found: BlockDevice,
    judged: Survey,
    sequence: Option<String>,
    claim: Option<File>,
}

pub(super) fn open(
    target: &Target,
    wipe: Option<&str>,
    tools: &mut Tools<'_>,
) -> Result<BlockLab<Device>, LabError> {
    if !rustix::process::geteuid().is_root() {
        return Err(LabError::NeedsRoot { lab: "device" });
    }
    let node = target.device.clone().expect("the schedule names the device of this lab");
    let judged = survey(&node, tools)?;
    let destroyed = safety::judge(&judged, wipe)?;
    for line in &destroyed {
        eprintln!("will be destroyed on {judged}: {line}");
    }
    let found = BlockDevice::open(&node).map_err(LabError::step("open", &node))?;
    let held = claim(&node).map_err(LabError::step("claim", &node))?;
    let folder = PathBuf::from(format!("/var/tmp/ssdlab-{}", tools.journal.marker()));
    let sequence = sequence(&found);
    BlockLab::new(Device { found, judged, sequence, claim: Some(held) }, &folder, tools)
}

/// The kernel numbers every disk that ever appeared (Linux 5.15): a name that was given to
/// another disk meanwhile has another number.
fn sequence(device: &BlockDevice) -> Option<String> {
    sysfs::read(&device.disk_folder().join("diskseq")).ok()
}

impl Device {
    fn check_identity(&self) -> Result<(), LabError> {
        let node = &self.judged.node;
        let now = BlockDevice::open(node).map_err(LabError::step("find", node))?;
        let size_bytes = now.size_bytes().map_err(LabError::step("read the size of", node))?;
        if now == self.found
            && size_bytes == self.judged.size_bytes
            && sequence(&now) == self.sequence
        {
            return Ok(());
        }
        let cause = io::Error::other("it is not the device any more that was checked");
        Err(LabError::step("go on with", node)(cause))
    }

    /// Gives every block back to the drive, where it can: the state every trial starts from.
    fn discard_all(&self) -> Result<(), LabError> {
        const BLKDISCARD: ioctl::Opcode = 0x1277;
        let node = &self.judged.node;
        let limit = self.found.queue_attribute("discard_max_bytes");
        if sysfs::read(&limit).is_ok_and(|bytes| bytes == "0") {
            return Ok(());
        }
        let Some(held) = &self.claim else {
            return Err(LabError::step("discard", node)(io::Error::other("it is not claimed")));
        };
        let range: [u64; 2] = [0, self.judged.size_bytes];
        // SAFETY: BLKDISCARD takes a pointer to two u64, start and length, which the kernel
        // only reads.
        unsafe { ioctl::ioctl(held, Setter::<BLKDISCARD, [u64; 2]>::new(range)) }
            .map_err(|errno| LabError::step("discard", node)(errno.into()))
    }

    /// Erases the signatures; wipefs claims the device itself and refuses one that is in use.
    fn erase_signatures(&mut self, tools: &Tools<'_>) -> Result<(), LabError> {
        self.check_identity()?;
        self.claim = None;
        let mut command = Command::new(program::find("wipefs", "util-linux")?);
        command.args(["--all", "--quiet"]).arg(&self.judged.node);
        program::run(command, tools.rules)?;
        self.claim_again()
    }

    fn claim_again(&mut self) -> Result<(), LabError> {
        let node = &self.judged.node;
        self.claim = Some(claim(node).map_err(LabError::step("claim", node))?);
        Ok(())
    }
}

impl Source for Device {
    fn attach(&mut self, tools: &mut Tools<'_>) -> Result<BlockDevice, LabError> {
        self.check_identity()?;
        if self.claim.is_none() {
            self.claim_again()?;
        }
        self.discard_all()?;
        self.erase_signatures(tools)?;
        Ok(self.found.clone())
    }

    fn facts(&self, device: &BlockDevice) -> Vec<(String, String)> {
        let mut facts: Vec<_> = settings::recorded(device).into_iter().collect();
        facts.push(("device_bytes".to_owned(), self.judged.size_bytes.to_string()));
        facts.extend(self.judged.model.clone().map(|model| ("model".to_owned(), model)));
        facts.extend(
            self.judged.identities.first().map(|name| ("identity".to_owned(), name.clone())),
        );
        facts
    }

    fn hand_over(&mut self) -> Result<(), LabError> {
        self.check_identity()?;
        self.claim = None;
        Ok(())
    }

    /// A trial leaves the device as blank as it was found, so that the next run needs no
    /// `--wipe` for what this one made.
    fn take_back(&mut self, tools: &Tools<'_>) -> Result<(), LabError> {
        self.erase_signatures(tools)
    }
}
