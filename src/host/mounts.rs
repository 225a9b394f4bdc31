//! The mount table, as `/proc/self/mountinfo` shows it.

use std::io;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use procfs::process::{MountInfos, Process};
use rustix::io::Errno;
use rustix::mount::UnmountFlags;

use super::processes;

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

/// Unmounts what is mounted on a directory. While it is busy, the processes of the run are ended
/// and it is tried again, until the patience ends. Nothing mounted there is fine.
pub fn unmount(target: &Path, marker: &str, patience: Duration) -> io::Result<()> {
    let started = Instant::now();
    while at(target)?.is_some() {
        match rustix::mount::unmount(target, UnmountFlags::NOFOLLOW) {
            Ok(()) => {}
            Err(Errno::BUSY) if started.elapsed() < patience => {
                processes::kill_marked(marker);
                sleep(Duration::from_millis(5));
            }
            Err(Errno::BUSY) => {
                let holders = processes::holding(target).join(", ");
                return Err(io::Error::other(format!("in use by {holders}")));
            }
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}

/// Takes what is mounted on a directory out of sight, though it may be in use. A connection to a
/// FUSE server ends.
pub fn detach(target: &Path) -> io::Result<()> {
    let flags = UnmountFlags::FORCE | UnmountFlags::DETACH | UnmountFlags::NOFOLLOW;
    Ok(rustix::mount::unmount(target, flags)?)
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
                target: PathBuf::from(unescaped(&info.mount_point.to_string_lossy())),
                source: unescaped(&info.mount_source.unwrap_or_default()),
                kind: info.fs_type,
                options,
            }
        })
        .collect()
}

/// The kernel writes blanks and backslashes in names as octal escapes.
fn unescaped(text: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\043", "#"), ("\\134", "\\")]
        .iter()
        .fold(text.to_owned(), |text, (escaped, plain)| text.replace(escaped, plain))
}

#[cfg(test)]
mod tests {
    use procfs::FromRead;

    use super::*;

    #[test]
    fn names_with_blanks_are_read_as_they_are() {
        let text = "36 35 7:0 / /media/My\\040Passport\\134x rw,noatime shared:1 - ext4 /dev/loop0 \
                    rw,discard,stripe=4\n";
        let mounts = from_infos(MountInfos::from_read(text.as_bytes()).unwrap());
        assert_eq!(mounts[0].target, Path::new("/media/My Passport\\x"));
        assert_eq!(mounts[0].options, ["noatime", "rw", "discard", "rw", "stripe=4"]);
    }
}
