//! The image lab: a loop device over a sparse file that is newly made for every trial, empty or as
//! a copy of an aged one.
//!
//! The folder may belong to a user, who can replace what is in it, but root's own folder there is
//! held open.
//!
//! A new file is a state that every trial can start from: nothing of an earlier trial remains, and
//! its space has been freed.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use ssdlab_host::file_id::FileId;
use ssdlab_host::loop_device;
use ssdlab_host::missing::if_there;
use ssdlab_host::sysfs::BlockDevice;
use ssdlab_host::undo::Change;
use ssdlab_kernel::aged;
use ssdlab_plan::{IS_BUFFERED, LOOP_DIRECT_IO};

use super::block::{BlockLab, DeviceSource};
use super::held::HeldFolder;
use super::{Lab, LabError, Tools};

/// The default folder of images: on a disk, not in memory.
const DEFAULT_FOLDER: &str = "/var/tmp";

/// The name of the image in its folder.
const FILE: &str = "disk.img";

#[derive(Debug)]
pub(super) struct Image {
    /// The folder that has nothing but the image.
    _folder: HeldFolder,
    /// The image, in the held folder.
    path: PathBuf,
    /// The name by which people know it.
    name: PathBuf,
    size_bytes: u64,
}

/// Opens the image lab, with images of this size in a folder.
pub fn open(
    size_bytes: u64,
    folder: Option<&Path>,
    tools: &mut Tools<'_>,
) -> Result<Box<dyn Lab>, LabError> {
    LabError::check_root("image", "makes and mounts filesystems")?;
    let parent = folder.unwrap_or(Path::new(DEFAULT_FOLDER));
    let parent = parent.canonicalize().map_err(LabError::step("use the folder", parent))?;
    let space = rustix::fs::statvfs(&parent)
        .map_err(|errno| LabError::step("look at", &parent)(errno.into()))?;
    let free_bytes = space.f_bavail.saturating_mul(space.f_frsize);
    if free_bytes < size_bytes {
        let needed_bytes = size_bytes;
        return Err(LabError::NoSpace { folder: parent, free_bytes, needed_bytes });
    }
    let (held, folder) = HeldFolder::make(&parent, tools.journal)?;
    let image =
        Image { path: held.path().join(FILE), name: folder.join(FILE), _folder: held, size_bytes };
    Ok(Box::new(BlockLab::new(image, tools)?))
}

impl DeviceSource for Image {
    fn attach(
        &mut self,
        kept: Option<&Path>,
        tools: &mut Tools<'_>,
    ) -> Result<BlockDevice, LabError> {
        let file = new_file(&self.path, self.size_bytes)
            .and_then(|file| kept.map_or(Ok(()), |kept| copy(kept, &file)).map(|()| file))
            .map_err(LabError::step("make the image", &self.name))?;
        let id = FileId::of(&file).map_err(LabError::step("look at", &self.name))?;
        // Another program may take the free device between asking and attaching.
        for _ in 0..64 {
            let device = loop_device::find_free().map_err(|cause| no_loop_devices(&cause))?;
            let backing = self.name.clone();
            tools
                .journal
                .will(Change::Loop { device: device.clone(), backing, file: Some(id) })
                .map_err(LabError::step("journal the use of", &device))?;
            match loop_device::attach(&device, &file) {
                Ok(()) => {
                    return BlockDevice::open(&device).map_err(LabError::step("open", &device));
                }
                Err(error)
                    if error.raw_os_error() == Some(rustix::io::Errno::BUSY.raw_os_error()) => {}
                Err(cause) => return Err(LabError::step("attach", &device)(cause)),
            }
        }
        Err(LabError::Unavailable {
            reason: "other programs take every free loop device first".to_owned(),
        })
    }

    fn file(&self) -> Option<&Path> {
        Some(&self.path)
    }

    fn facts(&self, device: &BlockDevice) -> Vec<(String, String)> {
        let direct = if loop_device::has_direct_io(&device.node) { "on" } else { IS_BUFFERED };
        vec![
            ("image_bytes".to_owned(), self.size_bytes.to_string()),
            (LOOP_DIRECT_IO.to_owned(), direct.to_owned()),
        ]
    }
}

fn new_file(path: &Path, size_bytes: u64) -> io::Result<File> {
    if_there(fs::remove_file(path))?;
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(path)?;
    file.set_len(size_bytes)?;
    Ok(file)
}

/// Clones a cached file if the filesystem supports that; otherwise copies all but zeros.
fn copy(kept: &Path, to: &File) -> io::Result<()> {
    let kept = File::open(kept)?;
    rustix::fs::ioctl_ficlone(to, &kept).or_else(|_| aged::copy(&kept, to))
}

fn no_loop_devices(cause: &io::Error) -> LabError {
    LabError::Unavailable {
        reason: format!("this machine offers no loop devices (/dev/loop-control: {cause})"),
    }
}
