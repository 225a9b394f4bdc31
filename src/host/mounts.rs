//! The mount table, as `/proc/self/mountinfo` shows it.

use std::io;
use std::path::{Path, PathBuf};

use procfs::process::{MountInfos, Process};

/// One mounted filesystem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// The device number, as `major:minor`.
    pub device: String,
    /// Where it is mounted.
    pub target: PathBuf,
    /// What is mounted: a device node, usually.
    pub source: String,
    /// The filesystem's type.
    pub kind: String,
    /// The options of this mount (`noatime`, `ro`), then those of the filesystem (`discard`).
    pub options: Vec<String>,
}

/// Every mount this process can see.
pub fn all() -> io::Result<Vec<Mount>> {
    let infos = Process::myself().and_then(|me| me.mountinfo()).map_err(io::Error::other)?;
    Ok(from_infos(infos))
}

/// The mount on exactly this directory; the topmost where several are stacked.
pub fn at(target: &Path) -> io::Result<Option<Mount>> {
    Ok(all()?.into_iter().rev().find(|mount| mount.target == target))
}

/// The mount a path lies in.
pub fn containing(path: &Path) -> io::Result<Option<Mount>> {
    let path = path.canonicalize()?;
    let mounts = all()?.into_iter().filter(|mount| path.starts_with(&mount.target));
    // The last of several on one target is the visible one, which `max_by_key` returns.
    Ok(mounts.max_by_key(|mount| mount.target.components().count()))
}

fn from_infos(infos: MountInfos) -> Vec<Mount> {
    let flat = |(key, value): (String, Option<String>)| match value {
        Some(value) => format!("{key}={value}"),
        None => key,
    };
    infos
        .into_iter()
        .map(|info| {
            let mut options: Vec<String> = info.mount_options.into_iter().map(flat).collect();
            let mut of_filesystem: Vec<String> = info.super_options.into_iter().map(flat).collect();
            options.sort();
            of_filesystem.sort();
            options.extend(of_filesystem);
            Mount {
                device: info.majmin,
                target: info.mount_point,
                source: info.mount_source.unwrap_or_default(),
                kind: info.fs_type,
                options,
            }
        })
        .collect()
}
