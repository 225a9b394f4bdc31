//! The processor time of operations on files, on this machine and in the virtual lab.
//!
//! Programs compute next to nothing in these operations: the kernel is measured.

mod fit;
mod measured;
mod operations;

use std::ffi::CString;
use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use serde::{Deserialize, Serialize};
use ssdlab_filesystem::{self as filesystem, Filesystem, MkfsOptions, SettingLevel};
use ssdlab_host::meter::processor;
use ssdlab_host::thread;

pub use self::fit::fit_block;
pub use self::measured::MeasuredCosts;
pub use self::operations::Times;

/// Where the guest's drive is, and where it is mounted.
const DEVICE: &str = "/dev/vda";
const MOUNTED: &str = "/tmp/mounted";

/// The job of a guest.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Computing {
    /// The name of the filesystem.
    pub filesystem: String,
    /// The level of its checksums, if not the default.
    pub checksums: Option<String>,
}

/// Performs the operations in an empty folder, where a file and folders are left; the processor
/// time is that of the calling thread.
pub fn here(folder: &Path) -> io::Result<Times> {
    operations::perform(folder, &|| thread::used().cpu_ns)
}

/// The guest's part: makes a filesystem, mounts it, and performs the operations there.
pub(super) fn inside(job: &Computing) -> io::Result<Times> {
    let spent = || processor::computed().map_or(0, |computed| computed.processes_ns);
    let found = filesystem::find(&job.filesystem)
        .ok_or_else(|| io::Error::other(format!("there is no filesystem {}", job.filesystem)))?;
    let checksums = job.checksums.as_deref().map(|name| {
        found.checksums.find(name).ok_or_else(|| {
            io::Error::other(format!("{} has no checksums `{name}`", job.filesystem))
        })
    });
    on_device(Path::new(DEVICE), Path::new(MOUNTED), found, checksums.transpose()?, &spent)
}

/// Makes a filesystem on a device, mounts it with noatime, and performs the operations there; with
/// a level of checksums, a synced write, too.
///
/// Whatever is on the device is lost. The device must be a guest's or the caller's own.
pub fn on_device(
    device: &Path,
    place: &Path,
    filesystem: &Filesystem,
    checksums: Option<&SettingLevel>,
    spent: &dyn Fn() -> u64,
) -> io::Result<Times> {
    let extra =
        checksums.iter().flat_map(|level| level.mkfs).map(|&word| word.to_owned()).collect();
    let arguments =
        filesystem.format_arguments(&MkfsOptions { seed: 1, extra, ..MkfsOptions::default() });
    let mut mkfs = Command::new(filesystem.mkfs);
    let output = mkfs.args(arguments).arg(device).stdin(Stdio::null()).output()?;
    if !output.status.success() {
        let says = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(io::Error::other(format!("{}: {says}", filesystem.mkfs)));
    }
    fs::create_dir_all(place)?;
    // Everywhere the same driver: the running kernel may have no other for ext2.
    let kind = if filesystem.name.starts_with("ext") { "ext4" } else { filesystem.name };
    let options = checksums.map(|level| level.mount.join(",")).unwrap_or_default();
    mount(device, place, kind, MountFlags::NOATIME, Some(&*CString::new(options)?))?;
    let folder = place.join("operations");
    let performed = fs::create_dir(&folder).and_then(|()| operations::perform(&folder, spent));
    let times = performed.and_then(|mut times| {
        fs::remove_dir_all(&folder)?;
        if checksums.is_some() {
            times.push(operations::write_synced(place, spent)?);
        }
        Ok(times)
    });
    unmount(place, UnmountFlags::empty())?;
    times
}

/// How much of each charged item an operation needs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChargedCounts {
    /// Basic blocks.
    pub blocks: f64,
    /// System calls.
    pub calls: f64,
    /// KiB copied or zeroed.
    pub copied_kib: f64,
    /// KiB whose CRC-32 or CRC-32C was computed.
    pub checksummed_kib: f64,
}
