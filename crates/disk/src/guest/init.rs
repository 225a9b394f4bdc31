//! The start and end of the guest's init process, its only one.

use std::fs;
use std::io;
use std::path::Path;

use rustix::mount::{MountFlags, mount};
use rustix::system::{RebootCommand, reboot};
use ssdlab_workload::command_system;

/// Mounts what programs expect and the read-only root lacks.
pub fn prepare() -> io::Result<()> {
    let mounts = [
        ("proc", "/proc"),
        ("sysfs", "/sys"),
        ("tmpfs", "/tmp"),
        ("tmpfs", "/run"),
        ("tmpfs", "/var"),
    ];
    for (kind, target) in mounts {
        mount(kind, target, kind, MountFlags::empty(), None)?;
    }
    // mount(8) and related programs look for it.
    if !Path::new("/dev/null").exists() {
        mount("devtmpfs", "/dev", "devtmpfs", MountFlags::empty(), None)?;
    }
    // Semaphores of the C library, with which the tools of nilfs2 lock out its cleaner.
    fs::create_dir_all("/dev/shm")?;
    mount("tmpfs", "/dev/shm", "tmpfs", MountFlags::empty(), None)?;
    ["/run/lock", "/var/run", "/var/lock"].into_iter().try_for_each(fs::create_dir_all)?;
    command_system::prepare()
}

/// Powers off the guest. Nothing is left to be written, so nothing is synced.
pub fn shut_down() -> io::Error {
    match reboot(RebootCommand::PowerOff) {
        Ok(()) => io::Error::other("the guest is still running after its power was cut"),
        Err(errno) => errno.into(),
    }
}
