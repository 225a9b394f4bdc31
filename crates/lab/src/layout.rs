//! Determines a filesystem's layout with its own tools.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::Command;

use ssdlab_filesystem::layout::ToolQuery;
use ssdlab_filesystem::{BlockKind, Layout};
use ssdlab_host::bounded;
use ssdlab_host::program::{self, Rules};
use ssdlab_host::sysfs::BlockDevice;
use ssdlab_plan::Setup;

use super::LabError;
use super::mounting::made;

/// The maximum size of an answer in a file: enough for a device of a TB.
const LONGEST_ANSWER_BYTES: u64 = 256 << 20;

/// What the kernel says about the owners of written bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Owners {
    /// A lab kernel reports the owner of each page.
    Told,
    /// Only what a filesystem marks as metadata is known.
    Marked,
}

/// The layout of an unmounted filesystem; unknown if no tool reports it. Its tools work in
/// `folder`, and leave nothing there.
pub(super) fn of(
    device: &BlockDevice,
    setup: &Setup,
    owners: Owners,
    folder: &Path,
    rules: Rules<'_>,
) -> Result<Layout, LabError> {
    let filesystem = made(setup);
    let Some(query) = filesystem.layout else { return Ok(Layout::unknown()) };
    let is_told = owners == Owners::Told;
    let others = if is_told { [].as_slice() } else { query.without_owners };
    let answers: Result<Vec<String>, LabError> = query
        .questions
        .iter()
        .chain(others)
        .map(|question| ask(question, filesystem.package, device, folder, rules))
        .collect();
    let mut layout = (query.parse)(&answers?)
        .map_err(|fault| LabError::Unavailable { reason: fault.to_string() })?;
    if !is_told && !query.marks_metadata {
        layout.files = BlockKind::Unattributed;
    }
    Ok(layout)
}

fn ask(
    question: &ToolQuery,
    package: &str,
    device: &BlockDevice,
    folder: &Path,
    rules: Rules<'_>,
) -> Result<String, LabError> {
    let ToolQuery { call, input, answer_file } = question;
    let mut command = Command::new(program::find(call.program, package)?);
    command.args(call.arguments).arg(&device.node).current_dir(folder);
    // debugfs shows its answers through the user's pager.
    command.env("DEBUGFS_PAGER", "__none__").env("PAGER", "__none__");
    let finished = program::run_with_input(command, input, rules)?;
    let Some(name) = answer_file else { return Ok(finished.stdout) };
    let path = folder.join(name);
    let answer = File::open(&path)
        .and_then(|file| bounded::read(file, LONGEST_ANSWER_BYTES))
        .and_then(|bytes| String::from_utf8(bytes).map_err(io::Error::other));
    fs::remove_file(&path).map_err(LabError::step("remove", &path))?;
    answer.map_err(LabError::step("read", &path))
}
