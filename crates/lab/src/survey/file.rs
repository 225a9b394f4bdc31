//! Uses of the file behind a loop device: whoever writes to the file writes to the device.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ssdlab_host::file_id::FileId;
use ssdlab_host::loop_device;
use ssdlab_host::mounts::{self, Mount};
use ssdlab_host::sysfs::BlockDevice;

use super::names;
use crate::safety::Purpose;

/// The file of a loop device.
#[derive(Debug)]
pub(super) struct LoopFile {
    pub id: FileId,
    /// Its path, as known to the kernel; it may belong to another file by now.
    path: PathBuf,
}

impl LoopFile {
    /// The file of a loop device, given by its kernel name; `None` for other devices, and for a
    /// loop device over a device.
    pub fn of(name: &str) -> io::Result<Option<Self>> {
        let node = Path::new("/dev").join(name);
        let Some(path) = loop_device::backing_file(&node) else { return Ok(None) };
        let backing = loop_device::backing(&node)?.filter(|backing| backing.device.is_none());
        Ok(backing.map(|backing| Self { id: backing.file, path }))
    }

    /// Whether a path leads to it.
    pub fn is(&self, path: &Path) -> bool {
        fs::metadata(path).is_ok_and(|found| FileId::from(&found) == self.id)
    }

    /// The mounts and swap areas that use it without a loop device in between.
    pub fn uses(&self, mounts: &[Mount], swap_areas: &[PathBuf]) -> Vec<Purpose> {
        let mut uses = Vec::new();
        for mount in mounts {
            // erofs mounts files directly (Linux 6.12).
            if self.is(Path::new(&mount.source)) {
                uses.push(Purpose::Mounted(mount.target.clone()));
            }
            if mount.kind == OVERLAY && layers(mount).any(|layer| self.path.starts_with(layer)) {
                uses.push(Purpose::Holder(format!("the overlay on {}", mount.target.display())));
            }
        }
        if swap_areas.iter().any(|area| self.is(area)) {
            uses.push(Purpose::Swap);
        }
        uses
    }

    /// The corresponding files in the layers of the overlay that it is on, if they are other
    /// objects. An overlay over the layer that it is in already counts as a user.
    pub fn in_layers(&self, mounts: &[Mount]) -> Vec<FileId> {
        let mut ids = Vec::new();
        for mount in mounts.iter().filter(|mount| mount.kind == OVERLAY) {
            let Ok(name) = self.path.strip_prefix(&mount.target) else { continue };
            let found = layers(mount).filter_map(|layer| fs::metadata(layer.join(name)).ok());
            ids.extend(found.filter(fs::Metadata::is_file).map(|found| FileId::from(&found)));
        }
        ids
    }

    /// Whether two loop devices stand on one file. Through an overlay a file has another device
    /// number than in its layer, and usually the same inode.
    fn is_same_as(&self, other: &Self) -> bool {
        self.id == other.id
            || self.id.inode == other.id.inode && (self.is_on_overlay() || other.is_on_overlay())
    }

    fn is_on_overlay(&self) -> bool {
        let mount = mounts::containing(&self.path);
        mount.is_ok_and(|mount| mount.is_some_and(|mount| mount.kind == OVERLAY))
    }
}

const OVERLAY: &str = "overlay";

/// The folders of an overlay.
fn layers(mount: &Mount) -> impl Iterator<Item = PathBuf> {
    let folders = mount.options.iter().filter_map(|option| {
        let lower = option.strip_prefix("lowerdir=").or_else(|| option.strip_prefix("lowerdir+="));
        lower.or_else(|| option.strip_prefix("upperdir="))
    });
    let paths = folders.flat_map(|folders| folders.split(':')).filter(|path| !path.is_empty());
    paths.filter_map(|path| Path::new(path).canonicalize().ok())
}

/// Other loop devices over the same file as a device's.
pub(super) fn other_loops(device: &BlockDevice) -> io::Result<Vec<String>> {
    let folder = device.disk_folder();
    let disk = folder.file_name().unwrap_or_default().to_string_lossy();
    let Some(own) = LoopFile::of(&disk)? else { return Ok(Vec::new()) };
    let mut others = names(Path::new("/sys/block"));
    others.retain(|name| {
        let file = if *name == disk { None } else { LoopFile::of(name).ok().flatten() };
        file.is_some_and(|file| own.is_same_as(&file))
    });
    Ok(others)
}
