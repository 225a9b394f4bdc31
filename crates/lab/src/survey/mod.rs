//! Surveys a device: gathers the evidence for `safety` from the kernel and libblkid.
//!
//! Devices are followed by number, not by name, and through every layer: partitions, holders,
//! slaves (LVM, RAID, LUKS), loop devices over devices. In addition, every relative is opened
//! exclusively, which fails for whatever is mounted, swaps or belongs to an array (even in another
//! mount namespace, or as the second device of a btrfs or a pool). Other open files are found
//! through the processes. A survey never opens a device for writing, because closing it would make
//! udev probe it again.

mod exports;
mod file;
mod relatives;
mod signatures;
mod uses;

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;
use ssdlab_host::block_ioctl;
use ssdlab_host::sysfs::{self, BlockDevice};

use super::safety::{Identity, Relation, Survey};
use super::{LabError, Tools};
pub(super) use relatives::lasting_identity;
use relatives::{attribute, names_of, relatives};

/// A node that was replaced by a link is not the one that was judged.
const NO_LINK: OFlags = OFlags::NOFOLLOW;

/// Surveys a device.
pub fn survey(node: &Path, tools: &Tools<'_>) -> Result<Survey, LabError> {
    let device = BlockDevice::open(node).map_err(LabError::step("use the device", node))?;
    look(&device, None, tools)
}

/// Surveys the claimed device again. No new use in the kernel is possible any more.
pub(super) fn survey_claimed(
    node: &Path,
    claim: &File,
    tools: &Tools<'_>,
) -> Result<Survey, LabError> {
    let device = identity(claim).and_then(|identity| BlockDevice::numbered(&identity.number));
    let device = device.map_err(LabError::step("identify", node))?;
    look(&BlockDevice { node: node.to_owned(), ..device }, Some(claim), tools)
}

fn look(device: &BlockDevice, claim: Option<&File>, tools: &Tools<'_>) -> Result<Survey, LabError> {
    let node = &device.node;
    let relatives = relatives(device).map_err(LabError::step("look at", node))?;
    let uses = uses::of(&relatives).map_err(LabError::step("find the users of", node))?;
    // Our claim holds the device, its disk and its partitions, but nothing that lies below.
    let is_ours = |relation| claim.is_some() && relation != Relation::Below;
    let mut others = relatives.iter().filter(|(relation, _)| !is_ours(*relation));
    let busy = others.any(|(_, relative)| is_claimed(relative));
    let mut survey = Survey {
        node: node.clone(),
        name: device.name.clone(),
        identity: Identity {
            number: device.number.clone(),
            size_bytes: device.size_bytes().map_err(LabError::step("read the size of", node))?,
            sequence: None,
        },
        is_partition: device.is_partition(),
        model: attribute(&device.disk_folder(), "device/model"),
        names: names_of(device),
        read_only: sysfs::read(&device.folder.join("ro")).is_ok_and(|text| text != "0"),
        busy,
        uses,
        signatures: Vec::new(),
    };
    // A device in use is refused regardless of its contents, and not even opened.
    if survey.uses.is_empty() && !busy && survey.identity.size_bytes > 0 {
        let opened = claim.map_or_else(|| open(node), File::try_clone);
        let held = opened.map_err(LabError::step("open", node))?;
        survey.identity = identity(&held).map_err(LabError::step("identify", node))?;
        survey.signatures = signatures::of(device, &held, &relatives, tools)?;
    }
    Ok(survey)
}

fn open(node: &Path) -> io::Result<File> {
    let flags = NO_LINK.bits().cast_signed();
    fs::OpenOptions::new().read(true).custom_flags(flags).open(node)
}

/// The identity of an open device.
pub(super) fn identity(held: &File) -> io::Result<Identity> {
    Ok(Identity {
        number: sysfs::major_minor(held.metadata()?.rdev()),
        size_bytes: block_ioctl::size_bytes(held)?,
        sequence: block_ioctl::disk_sequence(held),
    })
}

/// Whether the kernel holds a device, or one that overlaps it. A missing node cannot be opened, but
/// its disk can.
fn is_claimed(device: &BlockDevice) -> bool {
    let exclusive = (OFlags::EXCL | OFlags::NONBLOCK).bits().cast_signed();
    let node = Path::new("/dev").join(&device.name);
    let opened = fs::OpenOptions::new().read(true).custom_flags(exclusive).open(node);
    opened.is_err_and(|error| error.kind() != io::ErrorKind::NotFound)
}

/// Opens a device exclusively: fails while it, its disk or a partition of it is mounted or
/// otherwise claimed, and keeps others from claiming it for as long as the file is open.
pub(super) fn claim(node: &Path) -> io::Result<File> {
    let flags = (OFlags::EXCL | NO_LINK).bits().cast_signed();
    fs::OpenOptions::new().read(true).write(true).custom_flags(flags).open(node)
}
