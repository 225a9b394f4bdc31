//! Block devices in sysfs: finds them, and reads their settings.

use std::fs;
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// A block device, by its number and its folder in sysfs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockDevice {
    /// The device's node.
    pub node: PathBuf,
    /// The kernel's name (`sda1`).
    pub name: String,
    /// `major:minor`.
    pub number: String,
    /// The folder in `/sys/devices`.
    pub folder: PathBuf,
}

impl BlockDevice {
    /// Looks up a device; the result names the kernel's own node, even if given a link.
    pub fn open(node: &Path) -> io::Result<Self> {
        let metadata = fs::metadata(node)?;
        if !metadata.file_type().is_block_device() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a block device"));
        }
        let mut device = Self::numbered(&major_minor(metadata.rdev()))?;
        let is_same = |own: fs::Metadata| own.rdev() == metadata.rdev();
        if !fs::symlink_metadata(&device.node).is_ok_and(is_same) {
            device.node = node.canonicalize()?;
        }
        Ok(device)
    }

    /// Looks up a device number; the node is the one with the kernel's name.
    pub fn numbered(number: &str) -> io::Result<Self> {
        let folder = fs::canonicalize(Path::new("/sys/dev/block").join(number))?;
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { node: Path::new("/dev").join(&name), name, number: number.to_owned(), folder })
    }

    /// Whether it is a partition of a disk.
    pub fn is_partition(&self) -> bool {
        self.folder.join("partition").exists()
    }

    /// The folder of the whole disk: its own, unless it is a partition.
    pub fn disk_folder(&self) -> PathBuf {
        let parent = self.folder.parent().filter(|_| self.is_partition());
        parent.unwrap_or(&self.folder).to_owned()
    }

    /// The partitions of a whole disk, by name.
    pub fn partitions(&self) -> io::Result<Vec<Self>> {
        let numbers =
            partition_folders(&self.folder).into_iter().map(|part| read(&part.join("dev")));
        numbers.map(|number| Self::numbered(&number?)).collect()
    }

    /// Its sectors on the whole disk.
    pub fn sectors(&self) -> io::Result<Range<u64>> {
        let number = |name: &str| read(&self.folder.join(name))?.parse().map_err(io::Error::other);
        let start: u64 = if self.is_partition() { number("start")? } else { 0 };
        Ok(start..start + self.size_bytes()? / 512)
    }

    /// The whole disk: itself, unless it is a partition.
    pub fn disk(&self) -> io::Result<Self> {
        if !self.is_partition() {
            return Ok(self.clone());
        }
        Self::numbered(&read(&self.disk_folder().join("dev"))?)
    }

    /// A setting of the disk's request queue.
    pub fn queue_attribute(&self, name: &str) -> PathBuf {
        self.disk_folder().join("queue").join(name)
    }

    pub fn size_bytes(&self) -> io::Result<u64> {
        let sectors = read(&self.folder.join("size"))?;
        sectors.parse::<u64>().map(|sectors| sectors * 512).map_err(io::Error::other)
    }
}

/// The folders of a disk's partitions, by name.
pub fn partition_folders(disk: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(disk).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    folders.retain(|folder| folder.join("partition").exists());
    folders.sort();
    folders
}

/// The number of a block device, as `major:minor`; `None` for anything else.
pub fn block_number(node: &Path) -> Option<String> {
    let metadata = fs::metadata(node).ok().filter(|found| found.file_type().is_block_device())?;
    Some(major_minor(metadata.rdev()))
}

/// A device number as the kernel prints it: `major:minor`.
pub fn major_minor(number: u64) -> String {
    format!("{}:{}", rustix::fs::major(number), rustix::fs::minor(number))
}

/// The sequence number of the disk that an attribute belongs to: the kernel numbers every disk that
/// ever appeared (Linux 5.15). `None` if it has none.
pub fn disk_sequence(attribute: &Path) -> Option<String> {
    attribute.ancestors().find_map(|above| read(&above.join("diskseq")).ok())
}

/// The write cache attribute of a SCSI or ATA disk, given by its folder; `None` for other disks.
pub fn scsi_cache_type(disk: &Path) -> Option<PathBuf> {
    let mut entries = fs::read_dir(disk.join("device/scsi_disk")).ok()?;
    Some(entries.next()?.ok()?.path().join("cache_type"))
}

/// Reads an attribute without its line break.
pub fn read(path: &Path) -> io::Result<String> {
    Ok(fs::read_to_string(path)?.trim().to_owned())
}

/// The I/O schedulers that any block device offers; a module appears once it has been requested.
pub fn loaded_schedulers() -> Vec<String> {
    let disks = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let mut names: Vec<String> = disks
        .filter_map(|disk| fs::read_to_string(disk.path().join("queue/scheduler")).ok())
        .flat_map(|text| {
            let words = text.split(['[', ']', ' ', '\n']).filter(|word| !word.is_empty());
            words.map(str::to_owned).collect::<Vec<_>>()
        })
        .collect();
    names.sort();
    names.dedup();
    names
}

/// The value an attribute has: the bracketed word where the kernel lists the choices.
pub fn selected(text: &str) -> String {
    let bracketed = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    bracketed.map_or(text.trim(), |(word, _)| word).to_owned()
}

#[cfg(test)]
mod tests;
