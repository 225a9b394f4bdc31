//! Filesystems in a pool: their drivers, and importing and exporting the pool.
//!
//! The kernel's driver serves the pool if there is one; otherwise a daemon does, started and
//! stopped with each trial. It must be the only one, as it would import the machine's own pools.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use ssdlab_filesystem::{Filesystem, MkfsCall, Pool, PoolDaemon};
use ssdlab_host::program::{self, ProgramError, ProgramOutput, Rules};
use ssdlab_host::sysfs::BlockDevice;
use ssdlab_host::undo::Change;
use ssdlab_host::{kernel, mounts};
use ssdlab_plan::Setup;

use super::mounting::{made, reported};
use super::{LabError, SURVEY_TIMEOUT, Tools};

/// How long a pool may stay busy after unmounting, and how often to retry.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(2);
const TURN: Duration = Duration::from_millis(2);

/// How long exporting a pool may take: what a pool has in memory is written then.
const LONGEST_EXPORT: Duration = Duration::from_mins(5);

/// The name of a run's pool.
pub(super) fn name(marker: &str) -> String {
    format!("ssdlab-{marker}")
}

/// Why no daemon of this machine can serve a pool; `None` if it can.
pub(super) fn missing(pool: &Pool) -> Option<String> {
    if !kernel::has_filesystem("fuse") {
        return Some("this kernel has no FUSE".to_owned());
    }
    another(pool)
}

/// Another running daemon, which would be used in place of ours.
fn another(pool: &Pool) -> Option<String> {
    let PoolDaemon { call, socket, .. } = &pool.daemon;
    UnixStream::connect(socket).is_ok().then(|| {
        let program = call.program;
        format!("another {program} is running: stop it first (systemctl stop {program})")
    })
}

/// Starts the daemon of the pool, unless the kernel serves it, and waits until it is ready.
pub(super) fn serve(
    filesystem: &Filesystem,
    pool: &Pool,
    tools: &mut Tools<'_>,
) -> Result<Option<program::Daemon>, LabError> {
    let marker = tools.journal.marker().to_owned();
    if kernel::has_filesystem(filesystem.name) {
        let change = Change::Pool { name: name(&marker) };
        tools
            .journal
            .will(change)
            .map_err(LabError::step("journal the pool of", Path::new("/")))?;
        return Ok(None);
    }
    let daemon = pool.daemon;
    let program = daemon.call.program;
    if let Some(reason) = another(pool) {
        return Err(LabError::Unavailable { reason });
    }
    if Path::new(daemon.own_pools).exists() {
        return Err(LabError::Unavailable {
            reason: format!(
                "{program} would import this machine's own pools, listed in {}: export them first",
                daemon.own_pools
            ),
        });
    }
    let folders = daemon.folders.iter().map(PathBuf::from).filter(|folder| !folder.exists());
    let folders: Vec<PathBuf> = folders.collect();
    let socket = Path::new(daemon.socket);
    tools
        .journal
        .will(Change::Daemon { folders: folders.clone() })
        .map_err(LabError::step("journal the daemon of", socket))?;
    for folder in &folders {
        fs::create_dir(folder).map_err(LabError::step("make", folder))?;
    }
    let mut command = Command::new(program::find(program, filesystem.package)?);
    command.args(daemon.call.arguments).current_dir("/");
    let mut served = program::Daemon::start(command, &Change::daemon(&marker))?;
    let rules = Rules { limit: SURVEY_TIMEOUT, ..tools.rules };
    served.wait_for(|| UnixStream::connect(socket).is_ok(), rules)?;
    Ok(Some(served))
}

/// A folder beside the mount point with only a link to the device, so that a search for pools finds
/// no others.
pub(super) fn folder(device: &BlockDevice, mount_point: &Path) -> Result<PathBuf, LabError> {
    let folder = mount_point.with_file_name("devices");
    let made = (|| -> io::Result<()> {
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir(&folder)?;
        symlink(&device.node, folder.join(&device.name))
    })();
    made.map_err(LabError::step("link the device in", &folder))?;
    Ok(folder)
}

/// Imports the pool on a device, which mounts it, and returns the active options.
pub(super) fn mount(
    pool: &Pool,
    device: &BlockDevice,
    setup: &Setup,
    target: &Path,
    rules: Rules<'_>,
) -> Result<BTreeMap<String, String>, LabError> {
    call(made(setup), pool.import, device, target, rules)?;
    let mount = mounts::at(target)
        .and_then(|mount| mount.ok_or_else(|| io::Error::other("it is not in the mount table")))
        .map_err(LabError::step("read back the mount on", target))?;
    if !pool.kinds.contains(&mount.kind.as_str()) {
        return Err(LabError::Mismatch {
            what: "the filesystem".to_owned(),
            asked: pool.kinds[0].to_owned(),
            found: mount.kind,
        });
    }
    Ok(BTreeMap::from(reported(&mount)))
}

/// Waits until the daemon has processed all closes of files. The kernel does not wait for that, and
/// drops pending ones at unmount; a daemon that considers a file open then spins for ever. A reply
/// shows that everything queued before it has been read.
pub(super) fn drain(target: &Path) -> io::Result<()> {
    for _ in 0..2 {
        rustix::fs::statvfs(target)?;
        sleep(TURN);
    }
    Ok(())
}

/// Exports the pool. Its server may still be busy unmounting; it answers nothing if it spins.
pub(super) fn export(
    filesystem: &Filesystem,
    pool: &Pool,
    device: &BlockDevice,
    target: &Path,
    rules: Rules<'_>,
) -> Result<(), LabError> {
    let rules = Rules { limit: rules.limit.min(LONGEST_EXPORT), ..rules };
    let started = Instant::now();
    loop {
        match call(filesystem, pool.export, device, target, rules) {
            Err(LabError::Program(ProgramError::Failed { .. }))
                if started.elapsed() < EXPORT_TIMEOUT =>
            {
                sleep(TURN);
            }
            ended => return ended.map(drop),
        }
    }
}

/// Checks the properties set by mkfs, and returns those read back.
pub(super) fn properties(
    device: &BlockDevice,
    setup: &Setup,
    target: &Path,
    mkfs: &str,
    rules: Rules<'_>,
) -> Result<Option<(String, String)>, LabError> {
    let filesystem = made(setup);
    let Some(pool) = filesystem.pool else { return Ok(None) };
    let printed = call(filesystem, pool.properties, device, target, rules)?.stdout;
    let found: Vec<(&str, &str)> =
        printed.lines().filter_map(|line| line.split_once('\t')).collect();
    for (property, asked) in pool.asked_for(mkfs) {
        let differs = |(name, value): &&(&str, &str)| *name == property && *value != asked;
        if let Some((_, found)) = found.iter().find(differs) {
            return Err(LabError::Mismatch {
                what: format!("the property {property}"),
                asked: asked.to_owned(),
                found: (*found).to_owned(),
            });
        }
    }
    let shown = found.iter().map(|(name, value)| format!("{name}={value}"));
    Ok(Some(("properties".to_owned(), shown.collect::<Vec<_>>().join(","))))
}

/// Makes a call about the pool on a device, in the folder with only its link.
pub(super) fn call(
    filesystem: &Filesystem,
    call: MkfsCall,
    device: &BlockDevice,
    mount_point: &Path,
    rules: Rules<'_>,
) -> Result<ProgramOutput, LabError> {
    let mut command = Command::new(program::find(call.program, filesystem.package)?);
    command.args(call.arguments).arg(name(rules.marker)).current_dir(folder(device, mount_point)?);
    Ok(program::run(command, rules)?)
}

/// The command that commits what sync(2) leaves in memory; empty if there is none.
pub(super) fn commit(filesystem: &Filesystem, marker: &str) -> Result<Vec<String>, LabError> {
    let Some(Pool { commit, .. }) = filesystem.pool else { return Ok(Vec::new()) };
    let program = program::find(commit.program, filesystem.package)?;
    let words = commit.arguments.iter().map(|word| (*word).to_owned());
    let program = program.to_string_lossy().into_owned();
    Ok(std::iter::once(program).chain(words).chain([name(marker)]).collect())
}
