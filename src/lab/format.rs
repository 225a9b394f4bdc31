//! Making a filesystem with its own mkfs.

use std::collections::BTreeMap;
use std::process::Command;

use super::mounting::made;
use super::{LabError, Tools};
use crate::filesystem::Format;
use crate::host::program;
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
