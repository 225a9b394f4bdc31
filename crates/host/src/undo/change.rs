//! The changes ssdlab makes to a machine, and how each is undone. Every undo first checks that the
//! object is still the one that was changed: a loop device that now belongs to another process, or
//! a value that has been changed since, is left alone. Undoing a change that was never made, or is
//! already undone, succeeds.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Component, Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::file_id::FileId;
use crate::interrupt::Interrupt;
use crate::missing::if_there;
use crate::mounts::{self, MountElsewhere, MountIdentity};
use crate::open_files::{self, Object, OpenFileHolder};
use crate::program::{self, Rules};
use crate::sysfs::{self, disk_sequence};
use crate::{drive_identity, loop_device, processes, remount, tracefs};
use serde::{Deserialize, Serialize};

use super::{UndoError, attribute, name};

/// How long to wait for a busy mount or loop device.
const UNDO_TIMEOUT: Duration = Duration::from_secs(20);

/// How long each of the user's own commands may take: a service that stops has 90 s.
pub const TWEAK_LIMIT: Duration = Duration::from_mins(5);

/// How long to wait for a killed daemon to close its socket.
const DAEMON_PATIENCE: Duration = Duration::from_secs(5);

/// One change to the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// A folder was made, which will be removed with its contents.
    Folder {
        #[serde(with = "name")]
        path: PathBuf,
    },
    /// A loop device was attached to a file of ours.
    Loop {
        device: PathBuf,
        /// The file behind it.
        #[serde(with = "name")]
        backing: PathBuf,
        /// The same by its numbers, which journals of earlier versions do not have.
        #[serde(default)]
        file: Option<FileId>,
    },
    /// A filesystem was mounted on a folder of ours.
    Mount {
        /// The mount point.
        #[serde(with = "name")]
        target: PathBuf,
        /// The mount, which journals of earlier versions do not name.
        #[serde(default)]
        mounted: MountIdentity,
    },
    /// A daemon was started, which finds its folders by name.
    Daemon {
        /// Those of them that were not there before.
        folders: Vec<PathBuf>,
    },
    /// A pool was made, which the kernel's driver keeps until it is exported.
    Pool { name: String },
    /// A drive was served as a file of a FUSE filesystem, on a folder of the user.
    Served {
        /// The mount point.
        #[serde(with = "name")]
        target: PathBuf,
    },
    /// Events of the kernel are recorded in an instance of tracefs.
    Trace { instance: PathBuf },
    /// A value in sysfs was set.
    Sysfs {
        /// The attribute's file.
        path: PathBuf,
        /// The number of the disk it was of; none of earlier journals and kernels.
        #[serde(default)]
        disk: Option<String>,
        /// The value it had.
        before: String,
        /// The value it was given.
        after: String,
    },
    /// Another scheduler or tunable was set, which may change the tuning of the queue. Whoever
    /// changed it cannot be told, so that it is put back wherever the scheduler is the same.
    Tuning {
        /// The file of the attribute that is set to its default.
        path: PathBuf,
        /// The number of the disk it was of; none if the kernel has no such numbers.
        disk: Option<String>,
        /// The scheduler that the disk had.
        scheduler: String,
        /// The value it had.
        before: String,
    },
    /// A mounted filesystem of the user got other options.
    Remount {
        /// The mount point.
        #[serde(with = "name")]
        target: PathBuf,
        /// The filesystem's number, as `major:minor`.
        device: String,
        /// The words that were in force.
        before: Vec<String>,
    },
    /// A setting of the kernel's writeback was changed.
    Sysctl {
        /// Its name, as sysctl(8) has it.
        name: String,
        /// The value it had.
        before: String,
        /// The value it was given.
        after: String,
    },
    /// The user's own command was run, which another takes back.
    Tweak {
        /// The other, for sh(1). It may be run more than once.
        undo: String,
    },
    /// The write cache of a drive was switched, which a SCSI drive may remember without power.
    WriteCache {
        /// The drive's persistent identity: after a reboot its name may be another drive's.
        drive: String,
        /// The `cache_type` it had.
        before: String,
        /// The one it was given.
        after: String,
    },
}

/// The possible values of a SCSI disk's `cache_type` (drivers/scsi/sd.c).
const CACHE_TYPES: [&str; 4] =
    ["write through", "none", "write back", "write back, no read (daft)"];

impl Change {
    /// Whether it persists after the machine has crashed and booted again.
    pub fn outlives_a_crash(&self) -> bool {
        matches!(self, Self::Folder { .. } | Self::WriteCache { .. } | Self::Tweak { .. })
    }

    /// Whether earlier changes can be undone before it is: a drive may be missing for long, and a
    /// command of the user's may fail.
    pub(super) fn stands_alone(&self) -> bool {
        matches!(self, Self::WriteCache { .. } | Self::Tweak { .. })
    }

    /// The marker in the environment of this run's daemon. It differs from the run's own: ending a
    /// workload's processes must not end the daemon that serves their filesystem.
    pub fn daemon(marker: &str) -> String {
        format!("{marker}-daemon")
    }

    /// The source, in the mount table, of a drive served by the run of this marker.
    pub fn source(marker: &str) -> String {
        format!("ssdlab-{marker}")
    }

    /// Refuses what the run of this marker never changes: a journal that was tampered with must not
    /// become a way to write or delete anything else.
    pub(super) fn check(&self, marker: &str) -> Result<(), UndoError> {
        let own = format!("ssdlab-{marker}");
        let is_plain = |path: &Path| {
            let normal = |part| matches!(part, Component::RootDir | Component::Normal(_));
            path.is_absolute() && path.components().all(normal)
        };
        let is_named = |path: &Path, start: &str| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(start))
        };
        let is_run_time = |path: &PathBuf| {
            let parents = ["/run", "/run/lock", "/var/run", "/var/lock"].map(Path::new);
            path.parent().is_some_and(|parent| parents.contains(&parent)) && is_plain(path)
        };
        let unnamed = Path::new("/");
        let (path, is_ours) = match self {
            Self::Daemon { folders } => (unnamed, folders.iter().all(is_run_time)),
            Self::Pool { name } => (unnamed, name.starts_with(&own) && !name.contains('/')),
            Self::Folder { path } => (path.as_path(), is_named(path, &own)),
            Self::Loop { device, .. } => (
                device.as_path(),
                device.parent() == Some(Path::new("/dev")) && is_named(device, "loop"),
            ),
            Self::Mount { target, .. } => (
                target.as_path(),
                is_named(target, "mnt")
                    && target.parent().is_some_and(|above| is_named(above, &own)),
            ),
            // It may be anywhere; the source of what is mounted there shows whether it is ours.
            Self::Served { target } => (target.as_path(), true),
            Self::Trace { instance } => (
                instance.as_path(),
                instance.parent().is_some_and(|parent| parent.ends_with("instances"))
                    && is_named(instance, &own),
            ),
            Self::Sysfs { path, before, after, .. } => {
                (path.as_path(), attribute::is_settable(path, before, after))
            }
            Self::Tuning { path, before, .. } => {
                (path.as_path(), attribute::is_tuning(path, before))
            }
            Self::Remount { target, before, .. } => {
                (target.as_path(), before.iter().all(|word| remount::can_be_put_back(word)))
            }
            Self::Sysctl { name, before, after } => (unnamed, is_writeback(name, before, after)),
            // Any command may be the user's: only who may write the journal is a protection.
            Self::Tweak { .. } => (unnamed, true),
            Self::WriteCache { before, after, .. } => {
                (unnamed, [before, after].iter().all(|value| CACHE_TYPES.contains(&value.as_str())))
            }
        };
        if is_ours && is_plain(path) {
            return Ok(());
        }
        let cause = io::Error::new(io::ErrorKind::PermissionDenied, "no run makes such a change");
        Err(UndoError::by_hand("undo a change of", path, cause))
    }

    /// Undoes the change; `marker` names the run whose processes may block it.
    pub fn undo(&self, marker: &str) -> Result<(), UndoError> {
        self.check(marker)?;
        match self {
            Self::Folder { path } => remove_folder(path),
            Self::Loop { device, backing, file } => detach(device, backing, *file),
            Self::Mount { target, mounted } => {
                mounts::unmount(target, mounted, marker, UNDO_TIMEOUT, || Ok(()))
                    .map_err(|cause| UndoError::new("unmount", target, cause))
            }
            Self::Daemon { folders } => end_daemon(folders, marker, DAEMON_PATIENCE),
            Self::Pool { name } => let_go(name, marker),
            // Processes that still have the file open have only got errors since the server ended.
            Self::Served { target } => {
                mounts::detach(target, &MountIdentity::Source(Self::source(marker)))
                    .map_err(|cause| UndoError::new("unmount", target, cause))
            }
            Self::Trace { instance } => remove_trace(instance),
            // Another disk may have replaced the one that was set.
            Self::Sysfs { path, disk, .. } | Self::Tuning { path, disk, .. }
                if disk.is_some() && *disk != disk_sequence(path) =>
            {
                Ok(())
            }
            Self::Tuning { path, scheduler, before, .. } => tune_again(path, scheduler, before),
            Self::Sysfs { path, before, after, .. } => restore_value(path, before, after),
            Self::Remount { target, device, before } => put_back(target, device, before),
            Self::Sysctl { name, before, after } => {
                restore_value(&writeback_path(name), before, after)
            }
            Self::Tweak { undo } => take_back(undo, marker),
            Self::WriteCache { drive, before, after } => {
                restore_write_cache(Path::new(drive_identity::DISKS), drive, before, after)
            }
        }
    }
}

fn remove_folder(path: &Path) -> Result<(), UndoError> {
    let below = mounts::all().map_err(|cause| UndoError::new("read the mounts of", path, cause))?;
    if let Some(mount) = below.iter().find(|mount| mount.target.starts_with(path)) {
        let cause = io::Error::other(format!("{} is still mounted in it", mount.target.display()));
        return Err(UndoError::new("remove", path, cause));
    }
    if_there(fs::remove_dir_all(path)).map_err(|cause| UndoError::new("remove", path, cause))?;
    Ok(())
}

/// Removes the socket and the lock that a daemon leaves behind, and nothing else; removes nothing
/// if another daemon still serves after ours has had time to end.
fn end_daemon(folders: &[PathBuf], marker: &str, timeout: Duration) -> Result<(), UndoError> {
    processes::kill_marked(&Change::daemon(marker));
    let entries = |folder| fs::read_dir(folder).into_iter().flatten().flatten();
    let answers = |entry: fs::DirEntry| UnixStream::connect(entry.path()).is_ok();
    let started = Instant::now();
    // A process that is killed loses its marker before it closes its socket.
    while folders.iter().flat_map(entries).any(answers) {
        if started.elapsed() >= timeout {
            return Ok(());
        }
        sleep(Duration::from_millis(5));
    }
    for folder in folders {
        let Ok(entries) = fs::read_dir(folder) else { continue };
        let removed = entries.flatten().try_for_each(|entry| {
            let metadata = entry.metadata()?;
            if metadata.is_dir() || metadata.len() > 0 {
                return Err(io::Error::other(format!(
                    "{} is not the daemon's",
                    entry.path().display()
                )));
            }
            fs::remove_file(entry.path())
        });
        removed
            .and_then(|()| fs::remove_dir(folder))
            .map_err(|cause| UndoError::new("remove", folder, cause))?;
    }
    Ok(())
}

/// Gives a mount the options that it had, unless another filesystem is there by now.
fn put_back(target: &Path, device: &str, before: &[String]) -> Result<(), UndoError> {
    let failed = |cause| UndoError::new("put back the mount options of", target, cause);
    let mount = mounts::at(target).map_err(failed)?.filter(|mount| mount.device == device);
    let Some(mount) = mount else { return Ok(()) };
    let is_back = |word: &String| remount::in_force(&mount, word).as_ref() == Some(word);
    if before.iter().all(is_back) {
        return Ok(());
    }
    remount::put_in_force(&mount, before).map_err(failed)
}

/// The file of a setting of writeback.
pub fn writeback_path(name: &str) -> PathBuf {
    Path::new("/proc/sys").join(name.replace('.', "/"))
}

/// Whether it is a setting of writeback that a run may change, with values that it can have. One in
/// bytes sets the one in per cent to 0, which cannot be set; so those in bytes are left alone.
pub fn is_writeback(name: &str, before: &str, after: &str) -> bool {
    let is_number = |value: &str| value.parse::<u32>().is_ok();
    let is_share = |value: &str| value.parse::<u32>().is_ok_and(|share| (1..=100).contains(&share));
    match name {
        "vm.dirty_expire_centisecs" | "vm.dirty_writeback_centisecs" => {
            is_number(before) && is_number(after)
        }
        "vm.dirty_ratio" | "vm.dirty_background_ratio" => is_share(before) && is_share(after),
        _ => false,
    }
}

/// Exports a pool; those imported by a kernel driver are in its folder of statistics.
fn let_go(name: &str, marker: &str) -> Result<(), UndoError> {
    let kept = Path::new("/proc/spl/kstat/zfs").join(name);
    if !kept.exists() {
        return Ok(());
    }
    let interrupt = Interrupt::default();
    let rules = Rules { marker, limit: UNDO_TIMEOUT, interrupt: &interrupt };
    program::find("zpool", "zfsutils-linux")
        .and_then(|zpool| {
            let mut command = Command::new(zpool);
            command.args(["export", "-f", name]);
            program::run(command, rules)
        })
        .map(drop)
        .map_err(|error| UndoError::new("export the pool", &kept, io::Error::other(error)))
}

/// Runs the command that takes back the user's own.
fn take_back(undo: &str, marker: &str) -> Result<(), UndoError> {
    let interrupt = Interrupt::default();
    // A daemon that it starts again is the machine's own, and must not end with the run.
    let marker = format!("{marker}-undo");
    let rules = Rules { marker: &marker, limit: TWEAK_LIMIT, interrupt: &interrupt };
    program::run(program::shell(undo), rules)
        .map(drop)
        .map_err(|error| UndoError::by_user(undo, io::Error::other(error)))
}

fn remove_trace(instance: &Path) -> Result<(), UndoError> {
    if_there(tracefs::remove_instance(instance))
        .map_err(|cause| UndoError::new("remove", instance, cause))?;
    Ok(())
}

fn detach(device: &Path, backing: &Path, file: Option<FileId>) -> Result<(), UndoError> {
    let failed = |cause| UndoError::new("detach", device, cause);
    let by_name = || -> io::Result<Option<FileId>> {
        let found = if_there(loop_device::backing(device))?.flatten();
        let is_ours = loop_device::backing_file(device).as_deref() == Some(backing);
        Ok(found.filter(|_| is_ours).map(|found| found.file))
    };
    let file = file.map_or_else(by_name, |file| Ok(Some(file))).map_err(failed)?;
    let Some(file) = file else { return Ok(()) };
    let started = Instant::now();
    loop {
        // A last holder (a probing udev, say) may defer the detaching: look again until it is
        // really gone.
        let refusal = match if_there(loop_device::detach(device, file)) {
            Ok(Some(true)) => None,
            Ok(_) => return Ok(()),
            Err(cause) => Some(cause),
        };
        if started.elapsed() > UNDO_TIMEOUT {
            return Err(failed(refusal.unwrap_or_else(|| io::Error::other(kept_by(device)))));
        }
        sleep(Duration::from_millis(1));
    }
}

/// What keeps a device attached, as far as this process can see: mounts first, as programs that
/// only probe it open it, too.
fn kept_by(device: &Path) -> String {
    let number = fs::metadata(device).map_or(0, |node| node.rdev());
    let mounted = MountIdentity::Device(sysfs::major_minor(number));
    if let Some(mount) = mounts::all().unwrap_or_default().iter().find(|mount| mounted.is(mount)) {
        return format!("it is still mounted on {}", mounts::printable(&mount.target));
    }
    if let Some(found) = mounts::elsewhere().iter().find(|found| mounted.is(&found.mount)) {
        let MountElsewhere { mount, pid, command } = found;
        let target = mounts::printable(&mount.target);
        return format!(
            "it is still mounted on {target} in the mount namespace of {command} (pid {pid})"
        );
    }
    match open_files::holders(&[Object::Device(number)]).first() {
        Some((_, OpenFileHolder { pid, command, .. })) => {
            format!("{command} (pid {pid}) still has it open")
        }
        None => "something still has it open".to_owned(),
    }
}

pub(super) fn restore_value(path: &Path, before: &str, after: &str) -> Result<(), UndoError> {
    let Ok(text) = fs::read_to_string(path) else {
        return Ok(()); // the device is gone, and its settings with it
    };
    if sysfs::selected(&text) != after {
        return Ok(());
    }
    fs::write(path, before).map_err(|cause| UndoError::new("restore the value of", path, cause))
}

/// Gives a scheduler's attribute the value it had, unless somebody else has set another scheduler
/// since.
fn tune_again(path: &Path, scheduler: &str, before: &str) -> Result<(), UndoError> {
    let is_lost = || sysfs::read(path).is_ok_and(|found| found != before);
    if !attribute::has_scheduler(path, scheduler) || !is_lost() {
        return Ok(());
    }
    fs::write(path, before).map_err(|cause| UndoError::new("restore the value of", path, cause))
}

/// Finds the drive by its identity, in the folder of all disks. A drive that is missing or
/// ambiguous keeps its setting, so the change is not forgotten.
pub(super) fn restore_write_cache(
    disks: &Path,
    drive: &str,
    before: &str,
    after: &str,
) -> Result<(), UndoError> {
    let disk = drive_identity::only_disk_named(disks, drive);
    let attribute = disk.and_then(|disk| sysfs::scsi_cache_type(&disk));
    let Some(attribute) = attribute else {
        let cause = io::Error::new(
            io::ErrorKind::NotFound,
            format!(
                "no disk, or more than one, has this name, and it may still be set to `{after}`"
            ),
        );
        return Err(UndoError::missing("restore the write cache of", Path::new(drive), cause));
    };
    restore_value(&attribute, before, after)
}

#[cfg(test)]
mod tests;
