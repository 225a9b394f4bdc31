//! Makes a filesystem with its own mkfs, and checks it with its own fsck.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;

use ssdlab_filesystem::{Bits, Filesystem, MkfsOptions, findings, is_uuid_in_use};
use ssdlab_host::kernel;
use ssdlab_host::program::{self, ProgramError, ProgramOutput, Rules};
use ssdlab_host::sysfs::BlockDevice;
use ssdlab_host::toolbox::Toolbox;
use ssdlab_plan::{Atime, ChosenLevel, Setup};

use super::mounting::made;
use super::{LabError, pool};

/// Runs mkfs; returns the command line and how long it took. It never forces anything: the device
/// is free of signatures by then. A filesystem in a pool is mounted afterwards.
pub(super) fn make(
    device: &BlockDevice,
    setup: &Setup,
    seed: u64,
    target: &Path,
    rules: Rules<'_>,
) -> Result<BTreeMap<String, String>, LabError> {
    let filesystem = made(setup);
    if filesystem.pool.is_some() && target.to_str().is_none() {
        let (name, target) = (filesystem.name, target.display());
        return Err(LabError::Unavailable {
            reason: format!(
                "{name} needs a UTF-8 mount point, which {target} is not: set XDG_STATE_HOME to a \
                 folder with a UTF-8 name"
            ),
        });
    }
    let asked = MkfsOptions {
        journal: setup.journal,
        atime: setup.atime.map(|atime| atime != Atime::None),
        seed,
        extra: setup.mkfs_words(),
        pool: pool::name(rules.marker),
        mounted_at: target.to_string_lossy().into_owned(),
    };
    let (arguments, finished) = mkfs(filesystem, &asked, device, rules)?;
    Ok(BTreeMap::from([
        ("mkfs".to_owned(), format!("{} {}", filesystem.mkfs, arguments.join(" "))),
        ("mkfs_ns".to_owned(), finished.took.as_nanos().to_string()),
    ]))
}

/// Runs a filesystem's mkfs on a device; returns its arguments but for the device, and how it
/// ended.
pub(super) fn mkfs(
    filesystem: &Filesystem,
    asked: &MkfsOptions,
    device: &BlockDevice,
    rules: Rules<'_>,
) -> Result<(Vec<String>, ProgramOutput), LabError> {
    let mut command = Command::new(program::find(filesystem.mkfs, filesystem.package)?);
    let arguments = filesystem.format_arguments(asked);
    command.args(&arguments).arg(&device.node).current_dir("/");
    Ok((arguments, program::run(command, rules).map_err(refused)?))
}

/// Why mkfs failed. The first blocks of plans with one seed give the same UUID, so the image of an
/// interrupted run may be in the way.
fn refused(failed: ProgramError) -> LabError {
    match &failed {
        ProgramError::Failed { output, .. } if is_uuid_in_use(output) => {
            LabError::UuidInUse { failed }
        }
        _ => failed.into(),
    }
}

/// Checks in the superblock that the filesystem was made as the treatment asks, and returns the
/// settings found there.
pub(super) fn read_back(
    device: &BlockDevice,
    setup: &Setup,
) -> Result<BTreeMap<String, String>, LabError> {
    let mut found = BTreeMap::new();
    for ChosenLevel { factor, setting, level } in &setup.settings {
        let Some(Bits { at, mask }) = setting.superblock else { continue };
        let mut byte = [0];
        File::open(&device.node)
            .and_then(|node| node.read_exact_at(&mut byte, at))
            .map_err(LabError::step("read the superblock of", &device.node))?;
        let bits = byte[0] & mask;
        if bits != level.bits {
            let other = setting.levels.iter().find(|level| level.bits == bits);
            return Err(LabError::Mismatch {
                what: factor.name().to_owned(),
                asked: level.name.to_owned(),
                found: other.map_or_else(|| format!("{bits:#x}"), |other| other.name.to_owned()),
            });
        }
        found.insert(factor.name().to_owned(), level.name.to_owned());
    }
    Ok(found)
}

/// Runs the filesystem's own check, which changes nothing, on the unmounted device; returns the
/// command line, or nothing if there is no check.
pub(super) fn check(
    device: &BlockDevice,
    setup: &Setup,
    target: &Path,
    rules: Rules<'_>,
) -> Result<Option<String>, LabError> {
    let filesystem = made(setup);
    let Some(check) = filesystem.check else { return Ok(None) };
    let line = format!("{} {}", check.program, check.arguments.join(" "));
    let mut command = Command::new(program::find(check.program, filesystem.package)?);
    command.args(check.arguments);
    if filesystem.pool.is_some() {
        command.arg(pool::name(rules.marker)).current_dir(pool::folder(device, target)?);
    } else {
        command.arg(&device.node).current_dir("/");
    }
    let finished = program::run_to_any_end(command, rules)?;
    if finished.status.success() {
        return Ok(Some(line));
    }
    // Programs report damage on one stream or the other.
    let said = program::tail(&findings(&(finished.stdout + &finished.stderr)));
    Err(LabError::Damaged { check: line, said })
}

/// Replays the journal of an unmounted device, if its filesystem has a program for that. Damage
/// that it cannot repair shows when mounting.
pub(super) fn replay(
    device: &BlockDevice,
    setup: &Setup,
    rules: Rules<'_>,
) -> Result<(), LabError> {
    let filesystem = made(setup);
    let Some(replay) = filesystem.replay else { return Ok(()) };
    let mut command = Command::new(program::find(replay.program, filesystem.package)?);
    command.args(replay.arguments).arg(&device.node).current_dir("/");
    program::run_to_any_end(command, rules)?;
    Ok(())
}

/// The reason why this machine cannot make and mount a filesystem; `None` if it can.
pub fn missing(filesystem: &Filesystem) -> Option<String> {
    missing_with(filesystem, kernel::has_filesystem(filesystem.name), &Toolbox::Machine)
}

/// The same, given whether the kernel has its driver, and where programs are from.
fn missing_with(filesystem: &Filesystem, is_driven: bool, programs: &Toolbox) -> Option<String> {
    match filesystem.pool {
        // The daemon's programs are not needed if the kernel has the driver.
        _ if is_driven => lacking(filesystem.package, &[filesystem.mkfs], programs),
        Some(pool) => lacking(filesystem.package, &filesystem.programs(), programs)
            .or_else(|| pool::missing(pool)),
        // No package helps.
        None => Some(format!("this kernel has no {}", filesystem.name)),
    }
}

/// The same for a guest whose kernel has these filesystems, with the programs of a toolbox.
pub fn missing_in_guest(
    filesystem: &Filesystem,
    of_kernel: &[&str],
    toolbox: &Toolbox,
) -> Option<String> {
    let driver = if filesystem.pool.is_some() { "fuse" } else { filesystem.name };
    if !of_kernel.contains(&driver) {
        return Some(format!("the lab kernel has no {driver}"));
    }
    lacking(filesystem.package, &filesystem.programs(), toolbox)
}

/// The first of a package's programs that is not installed, as a reason.
pub(super) fn lacking(
    package: &'static str,
    programs: &[&str],
    toolbox: &Toolbox,
) -> Option<String> {
    let lacking = |program: &&str| match toolbox.find(program, package) {
        Err(ProgramError::Missing { program, package }) => {
            Some(format!("{program} is not installed (package {package})"))
        }
        _ => None,
    };
    programs.iter().find_map(lacking)
}

#[cfg(test)]
mod tests;
