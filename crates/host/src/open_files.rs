//! The processes that have a device or a file open, among all that may be inspected, in any
//! namespace. Descriptors are resolved to the object they refer to: a device has as many names as
//! it has nodes. A memory mapping stays in use after its descriptor is closed. The kernel publishes
//! nothing about descriptors in flight through a socket, or registered with `io_uring`.
//!
//! Source: proc(5), `/proc/PID/fd`, `/proc/PID/fdinfo`, `/proc/PID/maps`, `/proc/PID/map_files`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, OFlags, StatxFlags, makedev, statx};

use super::file_id::FileId;
use super::processes;

/// An object that a process can have open, identified by numbers that survive renaming.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Object {
    /// A block device, by its number.
    Device(u64),
    /// A character device, by its number.
    Character(u64),
    File(FileId),
}

impl Object {
    /// The target of a link in `/proc`, without contacting the file's server: one that no longer
    /// answers would block us.
    fn at(link: &Path) -> Option<Self> {
        let found = statx(CWD, link, AtFlags::STATX_DONT_SYNC, StatxFlags::BASIC_STATS).ok()?;
        let number = makedev(found.stx_rdev_major, found.stx_rdev_minor);
        let filesystem = makedev(found.stx_dev_major, found.stx_dev_minor);
        Some(match FileType::from_raw_mode(found.stx_mode.into()) {
            FileType::BlockDevice => Self::Device(number),
            FileType::CharacterDevice => Self::Character(number),
            _ => Self::File(FileId { filesystem, inode: found.stx_ino }),
        })
    }
}

/// A process that has something open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenFileHolder {
    pub pid: u32,
    /// Its command's name, as the kernel keeps it: 15 bytes at most.
    pub command: String,
    /// Whether it may write.
    pub writes: bool,
}

/// The processes other than this one that have any of the objects open or mapped, once for each
/// object.
pub fn holders(objects: &[Object]) -> Vec<(Object, OpenFileHolder)> {
    let own = processes::own().map(|pid| pid.as_raw_pid().unsigned_abs());
    let mut holders = Vec::new();
    for pid in numbers(Path::new("/proc")).into_iter().filter(|pid| Some(*pid) != own) {
        let process = Path::new("/proc").join(pid.to_string());
        let mut held = BTreeMap::new();
        // Threads may have their own descriptors, and if a process's first thread has ended, only
        // the others show them.
        for thread in numbers(&process.join("task")) {
            open_in(&process.join("task").join(thread.to_string()), objects, &mut held);
        }
        mapped_in(&process, objects, &mut held);
        holders.extend(held.into_iter().map(|(object, writes)| {
            (object, OpenFileHolder { pid, command: processes::command(pid), writes })
        }));
    }
    holders
}

/// The objects a process has open, and whether for writing.
type Held = BTreeMap<Object, bool>;

fn note(held: &mut Held, object: Object, writes: bool) {
    *held.entry(object).or_default() |= writes;
}

fn open_in(thread: &Path, objects: &[Object], held: &mut Held) {
    for descriptor in numbers(&thread.join("fd")) {
        // It may have been closed meanwhile, and a process that may not be inspected shows nothing.
        let Some(object) = Object::at(&thread.join("fd").join(descriptor.to_string())) else {
            continue;
        };
        if !objects.contains(&object) {
            continue;
        }
        let info = fs::read_to_string(thread.join("fdinfo").join(descriptor.to_string()));
        let flags = info.ok().and_then(|info| flags(&info)).unwrap_or(OFlags::RDWR);
        // Such a descriptor (O_PATH) only names a file and allows no I/O.
        if !flags.contains(OFlags::PATH) {
            note(held, object, flags.intersects(OFlags::RWMODE));
        }
    }
}

/// The flags of a descriptor, which the kernel prints in octal.
fn flags(info: &str) -> Option<OFlags> {
    let digits = info.lines().find_map(|line| line.strip_prefix("flags:"))?;
    u32::from_str_radix(digits.trim(), 8).ok().map(OFlags::from_bits_retain)
}

/// What a process has mapped. Files are followed, as descriptors are: the device number in `maps`
/// is that of the filesystem, and a btrfs has the same inode in each of its subvolumes.
fn mapped_in(process: &Path, objects: &[Object], held: &mut Held) {
    let maps = fs::read(process.join("maps")).unwrap_or_default();
    for line in String::from_utf8_lossy(&maps).lines() {
        // 7f12a000-7f12b000 rw-s 00000000 00:05 123    /dev/sda
        let mut words = line.split_ascii_whitespace();
        let (Some(range), Some(modes), Some(inode)) = (words.next(), words.next(), words.nth(2))
        else {
            continue;
        };
        if inode == "0" {
            continue;
        }
        if let Some(object) = Object::at(&process.join("map_files").join(range))
            && objects.contains(&object)
        {
            note(held, object, modes.contains('w') && modes.ends_with('s'));
        }
    }
}

fn numbers(folder: &Path) -> Vec<u32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| number(entry.file_name().to_str()?)).collect()
}

fn number(name: &str) -> Option<u32> {
    name.parse().ok()
}

#[cfg(test)]
mod tests;
