//! The system that a plan's commands run in, in a guest: where it is, what is mounted in it, and
//! how a command gets there.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::mount::{MountFlags, UnmountFlags, mount, mount_bind, mount_bind_recursive, unmount};
use ssdlab_host::program::run_inside;

/// The folder of the system in the guest.
pub const ROOT: &str = "/system";

/// Where commands find the filesystem under test, in the system.
const TESTED: &str = "mnt";

/// Places that a system must have, because something is mounted there.
pub const PLACES: [&str; 7] = ["dev", "proc", "sys", "tmp", "run", "var/tmp", TESTED];

/// Names that programs expect of devices, and what they stand for.
const DEVICES: [(&str, &str); 4] = [
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
];

/// The environment of commands: nothing of it depends on this machine or on its processor.
const ENVIRONMENT: [(&str, &str); 4] = [
    ("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
    ("HOME", "/tmp"),
    ("LANG", "C.UTF-8"),
    ("GLIBC_TUNABLES", "glibc.cpu.hwcaps=-SSE4_2"),
];

/// Mounts what programs expect in the system, if the guest has one; all else in it is only read.
pub fn prepare() -> io::Result<()> {
    let system = Path::new(ROOT);
    if !system.exists() {
        return Ok(());
    }
    for (name, target) in DEVICES {
        if fs::symlink_metadata(name).is_err() {
            symlink(target, name)?;
        }
    }
    mount_bind_recursive("/dev", system.join("dev"))?;
    for (kind, place) in [("proc", "proc"), ("sysfs", "sys")] {
        mount(kind, system.join(place), kind, MountFlags::empty(), None)?;
    }
    ["tmp", "run", "var/tmp"].into_iter().try_for_each(|place| writable(&system.join(place)))
}

/// Makes a folder of the system writable; what it had is there, too, to be read.
fn writable(place: &Path) -> io::Result<()> {
    let before = File::open(place)?;
    let entries: Vec<_> = fs::read_dir(place)?.collect::<io::Result<_>>()?;
    mount("tmpfs", place, "tmpfs", MountFlags::empty(), None)?;
    let before = PathBuf::from(format!("/proc/self/fd/{}", before.as_raw_fd()));
    for entry in entries {
        let name = entry.file_name();
        let (from, to) = (before.join(&name), place.join(&name));
        let kind = fs::symlink_metadata(&from)?.file_type();
        if kind.is_symlink() {
            symlink(fs::read_link(&from)?, &to)?;
            continue;
        }
        if kind.is_dir() {
            fs::create_dir(&to)?;
        } else {
            File::create(&to)?;
        }
        mount_bind(from, to)?;
    }
    Ok(())
}

/// A directory that commands in the system find as the filesystem under test.
#[derive(Debug)]
pub(super) struct TestedDirectory(PathBuf);

impl TestedDirectory {
    /// Mounts it there until this is dropped.
    pub fn mount(directory: &Path) -> io::Result<Self> {
        let place = Path::new(ROOT).join(TESTED);
        mount_bind(directory, &place)?;
        Ok(Self(place))
    }

    /// Where it is in the guest.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A command that runs in it.
    pub fn command(&self, words: &[String]) -> Command {
        let mut command = Command::new(words.first().map_or("", String::as_str));
        command.args(&words[1.min(words.len())..]).env_clear().envs(ENVIRONMENT);
        let place = self.0.strip_prefix(ROOT).unwrap_or(Path::new(TESTED));
        run_inside(&mut command, Path::new(ROOT), &Path::new("/").join(place));
        command
    }
}

impl Drop for TestedDirectory {
    fn drop(&mut self) {
        // What is left running there keeps it until it ends.
        let _ = unmount(&self.0, UnmountFlags::DETACH);
    }
}
