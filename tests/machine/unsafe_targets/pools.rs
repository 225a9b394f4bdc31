//! Targets with a ZFS pool. The kernel does not know about a pool that a daemon has imported.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::super::Needs;
use super::super::support::{Loop, sh, wait_for};
use super::{Made, Target};

pub fn targets() -> Vec<Target> {
    vec![
        Target {
            name: "unsafe_zfs_exported",
            needs: Needs::OwnZfs,
            make: |place| {
                let disk = Loop::new(place, "disk", 128);
                let daemon = Daemon::start();
                sh(&format!("zpool create -m none {POOL} {0} && zpool export {POOL}", disk.device));
                drop(daemon);
                Made::of(disk)
            },
            message: "DISK carries zfs_member",
        },
        Target {
            name: "unsafe_zfs_imported",
            needs: Needs::OwnZfs,
            make: |place| {
                let disk = Loop::new(place, "disk", 128);
                let on = disk.device.clone();
                imported(disk, &on)
            },
            message: "it is held open by HOLDER, for writing",
        },
        Target {
            name: "unsafe_zfs_imported_from_the_file",
            needs: Needs::OwnZfs,
            make: |place| {
                let disk = Loop::new(place, "disk", 128);
                let on = disk.backing.clone();
                imported(disk, &on)
            },
            message: "it is backed by a file that is held open by HOLDER, for writing",
        },
    ]
}

const POOL: &str = "ssdlab-unsafe-target";

/// A disk with a pool that was imported by one of the disk's names.
fn imported(disk: Loop, on: &str) -> Made {
    let daemon = Daemon::start();
    sh(&format!("zpool create -m none {POOL} {on}"));
    let holder = format!("zfs-fuse (pid {})", daemon.process.id());
    let mut made = Made::in_use(disk, daemon).word("HOLDER", holder);
    // The pool writes to it whenever it likes.
    made.untouched.clear();
    made
}

/// The daemon, which finds its folders by name.
struct Daemon {
    process: Child,
    folders: Vec<&'static str>,
}

impl Daemon {
    fn start() -> Self {
        let mut folders = vec!["/var/run/zfs", "/var/lock/zfs"];
        folders.retain(|folder| !Path::new(folder).exists());
        for folder in &folders {
            fs::create_dir(folder).unwrap();
        }
        let mut command = Command::new("zfs-fuse");
        command.arg("-n").stdin(Stdio::null()).stdout(Stdio::null());
        let process = command.stderr(Stdio::null()).spawn().unwrap();
        wait_for(|| Command::new("zpool").arg("list").output().unwrap().status.success());
        Self { process, folders }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let destroy = Command::new("zpool").args(["destroy", "-f", POOL]).output();
        self.process.kill().unwrap();
        self.process.wait().unwrap();
        for folder in &self.folders {
            fs::remove_dir_all(folder).unwrap();
        }
        assert!(destroy.is_ok());
    }
}
