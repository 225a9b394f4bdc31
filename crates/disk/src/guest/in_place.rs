//! Folders and files of this machine that a guest's root shows without a copy: bind mounts in a
//! mount namespace of the lab kernel's process, which end with it.

use std::ffi::{CString, OsStr};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{Mode, OFlags, open};
use rustix::io::{Errno, write};
use rustix::mount::{
    MountPropagationFlags, UnmountFlags, mount_bind_recursive, mount_change, unmount,
};
use rustix::process::{getgid, getuid};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use ssdlab_host::mounts::{self, Mount};

/// A folder or file of this machine, and where a guest's root shows it.
#[derive(Debug, Clone)]
pub struct InPlace {
    from: CString,
    to: CString,
}

impl InPlace {
    /// Both exist, and are folders or are files.
    pub fn new(from: &Path, to: &Path) -> io::Result<Self> {
        let text = |path: &Path| CString::new(path.as_os_str().as_bytes());
        Ok(Self { from: text(from)?, to: text(to)? })
    }

    /// Where it is, and where it is shown.
    pub fn paths(&self) -> [PathBuf; 2] {
        [&self.from, &self.to].map(|path| PathBuf::from(OsStr::from_bytes(path.as_bytes())))
    }
}

/// Whether this user may have a process show them.
pub fn can_show(all: &[InPlace]) -> bool {
    let namespace = Namespace::new(all);
    let mut command = Command::new("/nowhere");
    // SAFETY: between fork and exec the closure makes system calls and allocates nothing.
    unsafe {
        command.pre_exec(move || {
            namespace.enter()?;
            // It has been seen: nothing is started.
            Err(Errno::CANCELED.into())
        });
    }
    let found = command.spawn().err();
    found.and_then(|error| Errno::from_io_error(&error)) == Some(Errno::CANCELED)
}

/// A mount namespace that a process is about to enter.
#[derive(Debug)]
pub(super) struct Namespace {
    shown: Vec<InPlace>,
    /// Mounts of loop devices that nothing of this is on. A namespace has them, too, and would keep
    /// whoever mounted them from detaching the device.
    others: Vec<CString>,
    /// What a user namespace is told, file by file: users and groups are the same in it.
    maps: [(&'static str, String); 3],
}

impl Namespace {
    /// One that shows these.
    pub fn new(shown: &[InPlace]) -> Self {
        let (user, group) = (getuid().as_raw(), getgid().as_raw());
        let maps = [
            ("/proc/self/setgroups", "deny".to_owned()),
            ("/proc/self/uid_map", format!("{user} {user} 1")),
            ("/proc/self/gid_map", format!("{group} {group} 1")),
        ];
        let is_needed = |mount: &Mount| {
            shown.iter().flat_map(InPlace::paths).any(|path| path.starts_with(&mount.target))
        };
        let mounts = mounts::all().unwrap_or_default().into_iter();
        let loops = mounts.filter(|mount| {
            mount.source.as_os_str().as_encoded_bytes().starts_with(b"/dev/loop")
                && !is_needed(mount)
        });
        let others =
            loops.filter_map(|mount| CString::new(mount.target.as_os_str().as_bytes()).ok());
        Self { shown: shown.to_vec(), others: others.collect(), maps }
    }

    /// Moves this process there, if anything is shown. Between fork and exec: it makes system calls
    /// and allocates nothing.
    pub fn enter(&self) -> io::Result<()> {
        if self.shown.is_empty() {
            return Ok(());
        }
        // SAFETY: descriptors stay shared.
        if unsafe { unshare_unsafe(UnshareFlags::NEWNS) }.is_err() {
            // SAFETY: descriptors stay shared.
            unsafe { unshare_unsafe(UnshareFlags::NEWUSER | UnshareFlags::NEWNS) }?;
            for (file, text) in &self.maps {
                let file = open(*file, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
                write(file, text.as_bytes())?;
            }
        }
        // What is mounted here is mounted nowhere else; what is unmounted elsewhere, is so here, if
        // mounts are shared.
        mount_change("/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC)?;
        for other in &self.others {
            // In a user namespace it may not.
            let _ = unmount(other.as_c_str(), UnmountFlags::DETACH);
        }
        for InPlace { from, to } in &self.shown {
            mount_bind_recursive(from.as_c_str(), to.as_c_str())?;
        }
        Ok(())
    }
}
