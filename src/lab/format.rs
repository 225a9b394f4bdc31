//! Making a filesystem with its own mkfs, and checking it with its own check.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use super::mounting::made;
use super::{LabError, pool};
use crate::filesystem::Format;
use crate::host::program::{self, Rules};
use crate::host::sysfs::BlockDevice;
use crate::plan::{Atime, Setup};

/// Runs mkfs; returns the command line and how long it took. It is never told to force anything:
/// the device is free of signatures when it gets here. What lives in a pool is mounted then.
pub(super) fn make(
    device: &BlockDevice,
    setup: &Setup,
    seed: u64,
    target: &Path,
    rules: Rules<'_>,
) -> Result<BTreeMap<String, String>, LabError> {
    let filesystem = made(setup);
    let path = program::find(filesystem.mkfs, filesystem.package)?;
    let arguments = filesystem.format_arguments(&Format {
        journal: setup.journal,
        atime: setup.atime.map(|atime| atime != Atime::None),
        seed,
        extra: setup.mkfs.clone(),
        pool: pool::name(rules.marker),
        mounted_at: target.to_string_lossy().into_owned(),
    });
    let mut command = Command::new(path);
    command.args(&arguments).arg(&device.node).current_dir("/");
    let finished = program::run(command, rules)?;
    Ok(BTreeMap::from([
        ("mkfs".to_owned(), format!("{} {}", filesystem.mkfs, arguments.join(" "))),
        ("mkfs_ns".to_owned(), finished.took.as_nanos().to_string()),
    ]))
}

/// Runs the filesystem's own check, which changes nothing, on the unmounted device; returns the
/// command line, or nothing where there is no check.
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
    // Which of the two says what is wrong differs from one program to the next.
    let said = program::tail(&(finished.stdout + &finished.stderr));
    Err(LabError::Damaged { check: line, said })
}
