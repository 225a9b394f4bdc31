//! Checks stated facts on a mounted filesystem: the longest name, the largest file, whether files
//! can share blocks, and whether a snapshot can be taken. For the attribute A, about which nothing
//! is stated, it checks which files inherit it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::Command;

use rustix::fs::{AtFlags, Mode, OFlags, ioctl_ficlone, openat, unlinkat};
use ssdlab_filesystem::facts::{
    LARGEST_FILE, LONGEST_NAME, REFLINK, REFUSED, SNAPSHOTS, WORKS, limit_found,
};
use ssdlab_filesystem::{Filesystem, SnapshotSupport};
use ssdlab_host::program::{self, ProgramError, Rules};
use ssdlab_host::sysfs::BlockDevice;
use ssdlab_plan::{Atime, Setup};

use super::{LabError, attribute, pool};

/// The longest name a path can have, in bytes: `PATH_MAX` with the zero at its end.
const LONGEST_PATH: u64 = 4095;

/// Checks the filesystem mounted on `root`; files are left behind there.
pub(super) fn check(
    filesystem: &Filesystem,
    device: &BlockDevice,
    setup: &Setup,
    root: &Path,
    rules: Rules<'_>,
) -> Result<BTreeMap<String, String>, LabError> {
    let failed = |cause| LabError::step("check the features of", root)(cause);
    let facts = &filesystem.facts;
    let stated = |bytes: u128| u64::try_from(bytes).unwrap_or(u64::MAX);
    let directory = File::open(root).map_err(failed)?;
    let name =
        most(stated(facts.longest_name.bytes), LONGEST_PATH, |bytes| takes_name(&directory, bytes));
    let works = |works| if works { WORKS } else { REFUSED }.to_owned();
    let reflinks = takes_reflink(root).map_err(failed)?;
    let mut found = BTreeMap::from([
        (LONGEST_NAME.to_owned(), limit_found(name)),
        (REFLINK.to_owned(), works(reflinks)),
    ]);
    // Of ext2, ext3 and ext4 the largest file is stated for blocks of 4 KiB; mke2fs makes smaller
    // ones on small devices.
    let block_bytes = rustix::fs::statvfs(root).map_err(|error| failed(error.into()))?.f_bsize;
    let is_stated = block_bytes >= 4096 || !filesystem.name.starts_with("ext");
    if facts.has_holes && is_stated {
        let file = File::create(root.join("large")).map_err(failed)?;
        let stated = stated(facts.largest_file.bytes);
        let size = most(stated, i64::MAX.unsigned_abs(), |bytes| file.set_len(bytes).is_ok());
        file.set_len(0).map_err(failed)?;
        found.insert(LARGEST_FILE.to_owned(), limit_found(size));
    }
    if let Some(snapshot) = filesystem.snapshot {
        let taken = take(snapshot, filesystem, device, root, rules)?;
        found.insert(SNAPSHOTS.to_owned(), taken);
    }
    if setup.atime == Some(Atime::Attribute) {
        let inherited = attribute::check(root).map_err(failed);
        found.extend(inherited.unwrap_or_else(|error| unchecked(&error)));
    }
    Ok(found)
}

/// The result of a check that failed.
pub fn unchecked(error: &LabError) -> BTreeMap<String, String> {
    BTreeMap::from([("unchecked".to_owned(), error.to_string())])
}

/// The largest accepted value, assuming that all smaller ones are accepted. `stated` and its
/// successor are tried first; a search follows only if they disagree with the statement.
fn most(stated: u64, limit: u64, mut is_taken: impl FnMut(u64) -> bool) -> u64 {
    let stated = stated.min(limit);
    if is_taken(stated) && (stated == limit || !is_taken(stated + 1)) {
        return stated;
    }
    let (mut low, mut high) = (0, limit);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if is_taken(middle) { low = middle } else { high = middle - 1 }
    }
    low
}

fn takes_name(directory: &File, bytes: u64) -> bool {
    let name = "n".repeat(usize::try_from(bytes).unwrap_or(usize::MAX));
    let made = openat(directory, &name, OFlags::CREATE | OFlags::WRONLY, Mode::RUSR);
    // Removed, so that a second try can create it.
    made.is_ok() && unlinkat(directory, &name, AtFlags::empty()).is_ok()
}

fn takes_reflink(root: &Path) -> io::Result<bool> {
    let (from, to) = (root.join("shared"), root.join("sharing"));
    fs::write(&from, [1; 4096])?;
    let (from, to) = (File::open(from)?, File::create(to)?);
    Ok(ioctl_ficlone(&to, &from).is_ok())
}

fn take(
    snapshot: SnapshotSupport,
    filesystem: &Filesystem,
    device: &BlockDevice,
    root: &Path,
    rules: Rules<'_>,
) -> Result<String, LabError> {
    let call = snapshot.call();
    let mut command = Command::new(program::find(call.program, filesystem.package)?);
    command.args(call.arguments).current_dir("/");
    match snapshot {
        SnapshotSupport::Directory(_) => command.arg("snapshot").current_dir(root),
        SnapshotSupport::Device(_) => command.arg(&device.node),
        SnapshotSupport::Pool(_) => command.arg(format!("{}@snapshot", pool::name(rules.marker))),
    };
    match program::run(command, rules) {
        Ok(_) => Ok(WORKS.to_owned()),
        Err(ProgramError::Failed { output, .. }) => {
            Ok(format!("{REFUSED}: {}", program::tail(&output)))
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests;
