//! What people call files and cgroups.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use ssdlab_causes::Inode;
use ssdlab_host::btrfs;
use ssdlab_host::file_handle::{self, HandleKind};
use ssdlab_host::mounts::Mount;
use ssdlab_host::sysfs::major_minor;
use ssdlab_host::tracefs::monotonic_ns;

/// The most names that are kept.
const MOST_NAMES: usize = 500_000;

/// How a filesystem is asked for a file's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameSource {
    /// By handles.
    Handles(HandleKind),
    /// By btrfs's own ioctl.
    Btrfs,
}

/// A filesystem whose files are named.
#[derive(Debug)]
pub struct NamedFilesystem {
    /// Where it is mounted, for this process.
    pub path: PathBuf,
    /// The numbers of its files' devices, as `major:minor`.
    pub numbers: Vec<String>,
    root: Option<File>,
    source: NameSource,
    /// The subvolume that is mounted there.
    subvolume: Option<u64>,
}

impl NamedFilesystem {
    pub fn new(path: PathBuf, mount: &Mount, source: NameSource) -> Self {
        let root = File::open(&path).ok();
        let of_root = root.as_ref().and_then(|root| root.metadata().ok());
        let mut numbers = vec![mount.device.clone()];
        numbers.extend(of_root.map(|metadata| major_minor(metadata.dev())));
        let subvolume = root.as_ref().filter(|_| source == NameSource::Btrfs);
        let subvolume = subvolume.and_then(|root| btrfs::subvolume(root).ok());
        Self { path, numbers, root, source, subvolume }
    }

    fn path_of(&self, inode: &Inode) -> Option<String> {
        let root = self.root.as_ref()?;
        match self.source {
            NameSource::Handles(kind) => {
                let path = file_handle::path_of(root, kind, inode.number).ok()??;
                Some(path.display().to_string())
            }
            NameSource::Btrfs => {
                let path = btrfs::path_of(root, inode.tree, inode.number).ok()??;
                Some(if self.subvolume == Some(inode.tree) {
                    self.path.join(path).display().to_string()
                } else {
                    format!(
                        "{} (subvolume {}): {}",
                        self.path.display(),
                        inode.tree,
                        path.display()
                    )
                })
            }
        }
    }
}

/// The names of files, asked for when they are met.
#[derive(Debug)]
pub struct Names {
    filesystems: Vec<NamedFilesystem>,
    /// Paths, and when they were looked up.
    paths: BTreeMap<Inode, (String, u64)>,
}

impl Names {
    pub fn new(filesystems: Vec<NamedFilesystem>) -> Self {
        Self { filesystems, paths: BTreeMap::new() }
    }

    /// Looks up files that were just met: soon they may be deleted.
    pub fn learn(&mut self, fresh: &[Inode]) {
        for inode in fresh {
            if self.paths.len() < MOST_NAMES
                && let Some(filesystem) = self.filesystems.get(inode.filesystem)
                && let Some(path) = filesystem.path_of(inode)
            {
                self.paths.insert(*inode, (path, monotonic_ns()));
            }
        }
    }

    /// Drops names that were looked up after their file was deleted: they are those of the files
    /// that have its number since.
    pub fn check(&mut self, deleted: &[(Inode, u64)]) {
        for (inode, when_ns) in deleted {
            if self.paths.get(inode).is_some_and(|(_, looked_up_ns)| looked_up_ns >= when_ns) {
                self.paths.remove(inode);
            }
        }
    }

    /// The path of a file as it was first met. `None` if nobody saw its name.
    pub fn path(&self, inode: &Inode) -> Option<String> {
        self.paths.get(inode).map(|(path, _)| path.clone())
    }
}

/// What people call a cgroup: the unit, container or guest that it is of. Empty for the root.
pub fn service(cgroup: &str) -> String {
    let parts = cgroup.split('/').filter(|part| !part.is_empty());
    let kind = |part: &str| part.rsplit_once('.').map(|(_, kind)| kind.to_owned());
    let is_unit = |part: &&str| matches!(kind(part).as_deref(), Some("service" | "scope"));
    let unit = parts.clone().rfind(is_unit).or_else(|| parts.clone().next_back());
    let Some(unit) = unit else { return String::new() };
    let stem = unit.trim_end_matches(".service").trim_end_matches(".scope");
    let container = ["docker-", "libpod-", "cri-containerd-", "crio-"];
    let engine = container.iter().find_map(|engine| Some((engine, stem.strip_prefix(engine)?)));
    match engine {
        Some((engine, id)) => {
            let short: String = id.chars().take(12).collect();
            format!("{}{short}", engine.replace('-', " "))
        }
        None if parts.clone().any(|part| part == "qemu.slice") => format!("guest {stem}"),
        None => stem.to_owned(),
    }
}

#[cfg(test)]
mod tests;
