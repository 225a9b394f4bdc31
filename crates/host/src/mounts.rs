//! The mount table and the swap areas, as the kernel lists them: names are bytes.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags};
use serde::{Deserialize, Serialize};

use super::missing::if_there;
use super::processes;
use super::sysfs::block_number;

const TABLE: &str = "/proc/self/mountinfo";

/// Mount options that are flags of mount(2), not options of a filesystem.
pub const FLAGS: [(&str, MountFlags); 12] = [
    ("noatime", MountFlags::NOATIME),
    ("relatime", MountFlags::RELATIME),
    ("strictatime", MountFlags::STRICTATIME),
    ("nodiratime", MountFlags::NODIRATIME),
    ("lazytime", MountFlags::LAZYTIME),
    ("sync", MountFlags::SYNCHRONOUS),
    ("dirsync", MountFlags::DIRSYNC),
    ("nodev", MountFlags::NODEV),
    ("nosuid", MountFlags::NOSUID),
    ("nosymfollow", MountFlags::NOSYMFOLLOW),
    ("noexec", MountFlags::NOEXEC),
    ("silent", MountFlags::SILENT),
];

/// One mounted filesystem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// The device number, as `major:minor`.
    pub device: String,
    /// Where it is mounted.
    pub target: PathBuf,
    /// What is mounted: a device node, usually.
    pub source: OsString,
    /// The filesystem's type.
    pub kind: String,
    /// The options of this mount (`noatime`, `ro`), then those of the filesystem (`discard`).
    pub options: Vec<String>,
}

/// A mount made by this program, distinguishable from other mounts on the same folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MountIdentity {
    /// The block device of this number, as `major:minor`.
    Device(String),
    /// The mount with this source in the table.
    Source(String),
    /// Any mount: its source is not known.
    #[default]
    Any,
}

impl MountIdentity {
    /// Whether this is the mount, as far as its entry in the table says.
    pub fn is(&self, mount: &Mount) -> bool {
        match self {
            // Filesystems that take several devices have a number of their own in the table.
            Self::Device(number) => {
                mount.device == *number
                    || block_number(Path::new(&mount.source)).is_some_and(|own| own == *number)
            }
            Self::Source(source) => mount.source == source.as_str(),
            Self::Any => true,
        }
    }

    /// Whether it is the visible mount on a folder; an error if something is mounted over it.
    fn is_on_top(&self, target: &Path) -> io::Result<bool> {
        let mut here = all()?;
        here.retain(|mount| mount.target == target);
        match here.last() {
            Some(top) if self.is(top) => Ok(true),
            Some(top) if here.iter().any(|mount| self.is(mount)) => {
                Err(io::Error::other(format!("{} is mounted over it", top.source.display())))
            }
            _ => Ok(false),
        }
    }
}

/// A mount point as it may be shown: others choose its name.
pub fn printable(target: &Path) -> String {
    target.to_string_lossy().chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// Every mount this process can see.
pub fn all() -> io::Result<Vec<Mount>> {
    listed_in(Path::new(TABLE))
}

pub fn listed_in(table: &Path) -> io::Result<Vec<Mount>> {
    parse(&fs::read(table)?)
}

/// A mount in another mount namespace, with a process that sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MountElsewhere {
    /// The mount, as that process sees it.
    pub mount: Mount,
    pub pid: u32,
    pub command: String,
}

impl MountElsewhere {
    /// The path, for this process, of what that process calls by an absolute path; `None` for one
    /// that is not.
    pub fn reach(&self, path: &Path) -> Option<PathBuf> {
        let below = path.strip_prefix("/").ok()?;
        Some(Path::new("/proc").join(self.pid.to_string()).join("root").join(below))
    }
}

/// The mounts in other mount namespaces. Those that no process sees, or only processes that may not
/// be inspected, are left out.
pub fn elsewhere() -> Vec<MountElsewhere> {
    // A process sees what is mounted below its root.
    let view = |process: &Path| -> io::Result<(PathBuf, PathBuf)> {
        Ok((fs::read_link(process.join("ns/mnt"))?, fs::read_link(process.join("root"))?))
    };
    let mut seen: BTreeSet<(PathBuf, PathBuf)> =
        view(Path::new("/proc/self")).into_iter().collect();
    let mut found = Vec::new();
    for pid in processes::pids().map(|pid| pid.as_raw_pid().unsigned_abs()) {
        let process = Path::new("/proc").join(pid.to_string());
        let Some(view) = view(&process).ok().filter(|view| !seen.contains(view)) else { continue };
        // Another process may have the same view if this one has ended meanwhile.
        let Ok(table) = fs::read(process.join("mountinfo")) else { continue };
        let Ok(mounts) = parse(&table) else { continue };
        seen.insert(view);
        let command = processes::command(pid);
        found.extend(mounts.into_iter().map(|mount| MountElsewhere {
            mount,
            pid,
            command: command.clone(),
        }));
    }
    found
}

/// The mount on exactly this directory; the topmost where several are stacked.
pub fn at(target: &Path) -> io::Result<Option<Mount>> {
    Ok(all()?.into_iter().rev().find(|mount| mount.target == target))
}

/// The mount that contains a path.
pub fn containing(path: &Path) -> io::Result<Option<Mount>> {
    let path = path.canonicalize()?;
    Ok(holding(&all()?, &path).cloned())
}

/// The mount of a table that contains an absolute path without links.
pub fn holding<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    let mounts = mounts.iter().filter(|mount| path.starts_with(&mount.target));
    // The last of several on one target is the visible one, which `max_by_key` returns.
    mounts.max_by_key(|mount| mount.target.components().count())
}

/// Unmounts this program's mount on a directory. While it is busy, the run's processes are killed
/// and unmounting is retried, until the timeout ends; `before` is called before each attempt.
/// Mounts by others are left alone; an error if one covers ours.
pub fn unmount(
    target: &Path,
    ours: &MountIdentity,
    marker: &str,
    timeout: Duration,
    before: impl Fn() -> io::Result<()>,
) -> io::Result<()> {
    let started = Instant::now();
    while ours.is_on_top(target)? {
        before()?;
        match rustix::mount::unmount(target, UnmountFlags::NOFOLLOW) {
            Ok(()) => {}
            Err(Errno::BUSY) if let Some(inner) = mounted_in(target)? => {
                return Err(io::Error::other(format!(
                    "{} is mounted in it; unmount that first",
                    inner.display()
                )));
            }
            Err(Errno::BUSY) if started.elapsed() < timeout => {
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

/// A mount point below a folder.
fn mounted_in(folder: &Path) -> io::Result<Option<PathBuf>> {
    let is_inside = |mount: &Mount| mount.target != folder && mount.target.starts_with(folder);
    Ok(all()?.into_iter().find(is_inside).map(|mount| mount.target))
}

/// Lazily unmounts this program's mount on a directory, even if it is in use. A connection to a
/// FUSE server ends.
pub fn detach(target: &Path, ours: &MountIdentity) -> io::Result<()> {
    if ours.is_on_top(target)? {
        let flags = UnmountFlags::FORCE | UnmountFlags::DETACH | UnmountFlags::NOFOLLOW;
        rustix::mount::unmount(target, flags)?;
    }
    Ok(())
}

/// The files and devices used as swap.
pub fn swap_areas() -> io::Result<Vec<PathBuf>> {
    swap_areas_in(Path::new("/proc/swaps"))
}

/// The files and devices in a table of swap areas; none if there is no such table.
pub fn swap_areas_in(table: &Path) -> io::Result<Vec<PathBuf>> {
    let table = if_there(fs::read(table))?;
    Ok(table.as_deref().map(parse_swaps).unwrap_or_default())
}

fn parse_swaps(table: &[u8]) -> Vec<PathBuf> {
    let lines = table.split(|byte| *byte == b'\n').skip(1).filter(|line| !line.is_empty());
    let names = lines.filter_map(|line| line.split(u8::is_ascii_whitespace).next());
    names.map(|name| unescaped(name).into()).collect()
}

fn parse(table: &[u8]) -> io::Result<Vec<Mount>> {
    let lines = table.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines
        .map(|line| {
            entry(line).ok_or_else(|| {
                let shown = String::from_utf8_lossy(line);
                let says = format!("{TABLE} has a line in an unknown format: {shown}");
                io::Error::new(io::ErrorKind::InvalidData, says)
            })
        })
        .collect()
}

/// `proc_pid_mountinfo(5)`: two numbers, the device, the root, the target, options, any number of
/// tags, a hyphen, the type, the source, options.
fn entry(line: &[u8]) -> Option<Mount> {
    let mut words = line.split(|byte| *byte == b' ');
    let device = text(words.nth(2)?);
    let target = unescaped(words.nth(1)?).into();
    let mut options = sorted(words.next()?);
    words.find(|word| *word == b"-")?;
    let kind = text(words.next()?);
    let source = unescaped(words.next()?);
    options.extend(sorted(words.next()?));
    Some(Mount { device, target, source, kind, options })
}

fn sorted(options: &[u8]) -> Vec<String> {
    let mut options: Vec<String> = options.split(|byte| *byte == b',').map(text).collect();
    options.sort();
    options
}

fn text(word: &[u8]) -> String {
    OsStr::to_string_lossy(&unescaped(word)).into_owned()
}

/// The kernel writes blanks and backslashes in names as three octal digits.
fn unescaped(word: &[u8]) -> OsString {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word;
    while let Some((first, after)) = rest.split_first() {
        let escaped = match rest {
            [b'\\', high @ b'0'..=b'3', middle @ b'0'..=b'7', low @ b'0'..=b'7', ..] => {
                Some(((high - b'0') << 6) | ((middle - b'0') << 3) | (low - b'0'))
            }
            _ => None,
        };
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &rest[4..] } else { after };
    }
    OsString::from_vec(bytes)
}

#[cfg(test)]
mod tests;
