//! Uses of the file behind a loop device: whoever writes to the file writes to the device.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ssdlab_host::file_id::FileId;
use ssdlab_host::loop_device;
use ssdlab_host::mounts::{self, Mount, MountElsewhere};
use ssdlab_host::sysfs::{BlockDevice, major_minor};

use super::relatives::names;
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

    /// The same for mounts in other mount namespaces.
    pub fn uses_elsewhere(&self, mounts: &[MountElsewhere]) -> Vec<Purpose> {
        let is_over = |mount: &Mount| {
            mount.kind == OVERLAY && named_layers(mount).any(|layer| self.path.starts_with(layer))
        };
        // Whoever mounts in a namespace of their own can name any source, but not for erofs.
        let used = mounts.iter().filter(|found| {
            let source = found.reach(Path::new(&found.mount.source));
            found.mount.kind == EROFS && source.is_some_and(|source| self.is(&source))
                || is_over(&found.mount)
        });
        used.map(Purpose::mounted_elsewhere).collect()
    }

    /// The corresponding files in the layers of the overlays that it is on, if they are other
    /// objects. An overlay over the layer that it is in already counts as a user.
    pub fn in_layers(&self, mounts: &[Mount]) -> Vec<FileId> {
        let (mut ids, mut paths) = (Vec::new(), vec![self.path.clone()]);
        while let Some(path) = paths.pop() {
            for mount in mounts.iter().filter(|mount| mount.kind == OVERLAY) {
                let Ok(name) = path.strip_prefix(&mount.target) else { continue };
                for below in layers(mount).map(|layer| layer.join(name)) {
                    let found = fs::metadata(&below).ok().filter(fs::Metadata::is_file);
                    let Some(id) = found.map(|found| FileId::from(&found)) else { continue };
                    if !ids.contains(&id) {
                        ids.push(id);
                        // The layer may be on another overlay.
                        paths.push(below);
                    }
                }
            }
        }
        ids
    }

    fn place(&self, seen: &VisibleMounts) -> Place {
        let of_kind = |mount: &Mount| match mount.kind.as_str() {
            OVERLAY => Place::Overlay,
            _ => Place::Plain,
        };
        // By path first: each subvolume of a btrfs has a device number of its own, which no table
        // lists.
        let by_path = self.is(&self.path).then(|| mounts::containing(&self.path).ok().flatten());
        let number = major_minor(self.id.filesystem);
        let listed = || seen.mounts.iter().find(|mount| mount.device == number).cloned();
        if let Some(mount) = by_path.flatten().or_else(listed) {
            return of_kind(&mount);
        }
        let is_on = |found: &&MountElsewhere| {
            let reached = || found.reach(&self.path).is_some_and(|path| self.is(&path));
            found.mount.device == number || found.mount.kind == BTRFS && reached()
        };
        // The layers of an overlay elsewhere cannot be looked up by their names there.
        let elsewhere = seen.elsewhere.iter().find(is_on).map(|found| of_kind(&found.mount));
        elsewhere.filter(|place| *place == Place::Plain).unwrap_or(Place::Hidden)
    }
}

/// What a loop device's file is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// A filesystem on which a file is one object.
    Plain,
    /// A visible overlay, through which a file has another device number than in its layer, and
    /// usually the same inode.
    Overlay,
    /// A filesystem that is unmounted lazily, or an overlay in another mount namespace: it may be
    /// an overlay over any file.
    Hidden,
}

/// All mounts that can be seen.
struct VisibleMounts {
    mounts: Vec<Mount>,
    elsewhere: Vec<MountElsewhere>,
}

const OVERLAY: &str = "overlay";
const EROFS: &str = "erofs";
const BTRFS: &str = "btrfs";

/// The folders of an overlay.
fn layers(mount: &Mount) -> impl Iterator<Item = PathBuf> {
    named_layers(mount).filter_map(|path| path.canonicalize().ok())
}

/// The same as they were named when it was mounted.
fn named_layers(mount: &Mount) -> impl Iterator<Item = &Path> {
    let folders = mount.options.iter().filter_map(|option| {
        let lower = option.strip_prefix("lowerdir=").or_else(|| option.strip_prefix("lowerdir+="));
        lower.or_else(|| option.strip_prefix("upperdir="))
    });
    let paths = folders.flat_map(|folders| folders.split(':')).filter(|path| !path.is_empty());
    paths.map(Path::new)
}

/// Other loop devices that are over the same file as a device, or may be.
pub(super) fn other_loops(device: &BlockDevice) -> io::Result<Vec<Purpose>> {
    let folder = device.disk_folder();
    let disk = folder.file_name().unwrap_or_default().to_string_lossy();
    let Some(own) = LoopFile::of(&disk)? else { return Ok(Vec::new()) };
    let seen = VisibleMounts { mounts: mounts::all()?, elsewhere: mounts::elsewhere() };
    let own_place = own.place(&seen);
    if own_place == Place::Hidden {
        return Ok(vec![Purpose::Unseen("is backed by a file on a filesystem that".to_owned())]);
    }
    let mut found = Vec::new();
    for name in names(Path::new("/sys/block")).into_iter().filter(|name| *name != disk) {
        let Some(other) = LoopFile::of(&name)? else { continue };
        let place = other.place(&seen);
        let is_on_overlay = [own_place, place].contains(&Place::Overlay);
        let ids = |file: &LoopFile| [vec![file.id], file.in_layers(&seen.mounts)].concat();
        let (own_ids, other_ids) = (ids(&own), ids(&other));
        let is_unresolved = |place, ids: &[FileId]| place == Place::Overlay && ids.len() == 1;
        if own_ids.iter().any(|id| other_ids.contains(id))
            || own.id.inode == other.id.inode && is_on_overlay
        {
            found.push(Purpose::Holder(name));
        } else if place == Place::Hidden
            || is_unresolved(own_place, &own_ids)
            || is_unresolved(place, &other_ids)
        {
            let what = format!("may be used by {name}, whose file is on a filesystem that");
            found.push(Purpose::Unseen(what));
        }
    }
    Ok(found)
}
