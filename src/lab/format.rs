//! Making a filesystem with its own mkfs, and checking it with its own check.

use std::collections::BTreeMap;
use std::process::Command;

use super::mounting::made;
use super::{LabError, Tools};
use crate::filesystem::Format;
use crate::host::program::{self, Rules};
use crate::host::sysfs::BlockDevice;
use crate::plan::Setup;

/// Runs mkfs; returns the command line and the program's version for the record. It is never
/// told to force anything: the device is free of signatures when it gets here.
pub(super) fn make(
    device: &BlockDevice,
    setup: &Setup,
    seed: u64,
    tools: &Tools<'_>,
) -> Result<BTreeMap<String, String>, LabError> {
    let filesystem = made(setup);
    let path = program::find(filesystem.mkfs, filesystem.package)?;
    let format = Format { journal: setup.journal, seed, extra: setup.mkfs.clone() };
    let arguments = filesystem.format_arguments(&format);
    let mut command = Command::new(path);
    command.args(&arguments).arg(&device.node).current_dir("/");
    let finished = program::run(command, tools.rules)?;
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
    rules: Rules<'_>,
) -> Result<Option<String>, LabError> {
    let filesystem = made(setup);
    let Some(check) = filesystem.check else { return Ok(None) };
    let line = format!("{} {}", check.program, check.arguments.join(" "));
    let mut command = Command::new(program::find(check.program, filesystem.package)?);
    command.args(check.arguments).arg(&device.node).current_dir("/");
    let finished = program::run_to_any_end(command, rules)?;
    if finished.status.success() {
        return Ok(Some(line));
    }
    // Which of the two says what is wrong differs from one program to the next.
    let said = program::tail(&(finished.stdout + &finished.stderr));
    Err(LabError::Damaged { check: line, said })
}
