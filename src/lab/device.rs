//! The device lab: a real drive or partition, which is wiped.
//!
//! The device is claimed (`O_EXCL`) for the whole run, except while mkfs and the mounted
//! filesystem hold that same claim themselves: the kernel knows one claim, so it is handed over
//! and taken back; meanwhile the disk's lock keeps udev and its helpers away. Before every trial
//! the device is compared with the one that was judged; a name that meanwhile means another drive
//! is not written to.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::ioctl::{self, Setter};

use super::block::{BlockLab, Source};
use super::safety::{self, Survey};
use super::survey::{END_BYTES, claim, survey};
use super::{LabError, Tools, settings};
use crate::host::program;
use crate::host::sysfs::{self, BlockDevice};
use crate::plan::schedule::Target;

/// How long a claim is waited for when a child of ours has just given it up.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct Device {
    /// The device as it was found when it was judged.
    found: BlockDevice,
    judged: Survey,
    sequence: Option<String>,
    claim: Option<File>,
    _lock: File,
}

pub(super) fn open(
    target: &Target,
    wipe: Option<&str>,
    tools: &mut Tools<'_>,
) -> Result<BlockLab<Device>, LabError> {
    if !rustix::process::geteuid().is_root() {
        return Err(LabError::NeedsRoot { lab: "device" });
    }
    let named = target.device.clone().expect("the schedule names the device of this lab");
    // A link is followed once; from here on the kernel's own node is meant.
    let found = BlockDevice::open(&named).map_err(LabError::step("use the device", &named))?;
    let node = found.node.clone();
    let judged = survey(&node, tools)?;
    let destroyed = safety::judge(&judged, wipe)?;
    for line in &destroyed {
        // Nobody listening is no reason to end.
        let _ = writeln!(io::stderr(), "will be destroyed on {judged}: {line}");
    }
    let held = claim(&node).map_err(LabError::step("claim", &node))?;
    let lock = lock(&found)?;
    let sequence = sequence(&found);
    BlockLab::new(Device { found, judged, sequence, claim: Some(held), _lock: lock }, tools)
}

/// Takes the lock that udev and partitioning tools respect (systemd's block device locking): while
/// it is held, nobody probes the disk or mounts what appears on it.
fn lock(device: &BlockDevice) -> Result<File, LabError> {
    let disk = device.disk_folder();
    let node = Path::new("/dev").join(disk.file_name().unwrap_or_default());
    let file = File::open(&node).map_err(LabError::step("open", &node))?;
    flock(&file, FlockOperation::NonBlockingLockExclusive).map_err(|errno| {
        LabError::step("lock (another program works on it)", &node)(errno.into())
    })?;
    Ok(file)
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

    fn discards(&self) -> bool {
        let limit = self.found.queue_attribute("discard_max_bytes");
        sysfs::read(&limit).is_ok_and(|bytes| bytes != "0")
    }

    /// Gives every block back to the drive, where it can: the state every trial starts from.
    fn discard_all(&self) -> Result<(), LabError> {
        const BLKDISCARD: ioctl::Opcode = 0x1277;
        let node = &self.judged.node;
        if !self.discards() {
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
        self.claim_again()?;
        self.blank_ends()
    }

    /// Claims the device when a child that had it has ended; the last close may still be on its
    /// way.
    fn claim_again(&mut self) -> Result<(), LabError> {
        let node = &self.judged.node;
        let started = Instant::now();
        loop {
            match claim(node) {
                Ok(file) => {
                    self.claim = Some(file);
                    return Ok(());
                }
                Err(error)
                    if error.kind() == io::ErrorKind::ResourceBusy
                        && started.elapsed() < PATIENCE =>
                {
                    sleep(Duration::from_millis(5));
                }
                Err(error) => return Err(LabError::step("claim", node)(error)),
            }
        }
    }

    /// Zeros where filesystems keep their beginnings, so that the device is as blank as it was.
    fn blank_ends(&self) -> Result<(), LabError> {
        let node = &self.judged.node;
        let Some(held) = &self.claim else {
            return Err(LabError::step("blank", node)(io::Error::other("it is not claimed")));
        };
        let size = self.judged.size_bytes;
        let zeros = vec![0; usize::try_from(END_BYTES.min(size)).unwrap_or(0)];
        let blank = |start: u64| held.write_all_at(&zeros, start);
        blank(0)
            .and_then(|()| blank(size.saturating_sub(END_BYTES)))
            .and_then(|()| held.sync_all())
            .map_err(LabError::step("blank the ends of", node))
    }
}

impl Source for Device {
    fn attach(&mut self, _: Option<&Path>, tools: &mut Tools<'_>) -> Result<BlockDevice, LabError> {
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
        let equalised = if self.discards() { "discarded" } else { "no" };
        facts.push(("equalised".to_owned(), equalised.to_owned()));
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
