//! The libraries that programs of trials have used: what a result depends on beside the programs
//! themselves.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::path::Path;

use rustix::fs::{Mode, OFlags, ResolveFlags, open, openat2};
use sha2::{Digest, Sha256};
use ssdlab_disk::guest::Root;
use ssdlab_host::files::checksum_of;
use ssdlab_host::program::Rules;
use ssdlab_host::toolbox::Toolbox;
use ssdlab_plan::CommandSystem;
use ssdlab_results::Record;

use super::error::GuestsError;
use super::system;

/// How many hexadecimal digits tell two files apart.
const DIGITS: usize = 16;

/// The libraries that programs in a system have used in these trials, each with the digest of its
/// contents; those that the plan adds are not among them, as the programs' own are not. `root` is
/// the one that guests share.
pub(super) fn of_trials(
    records: &[Record],
    system: &CommandSystem,
    root: &Path,
) -> Result<BTreeMap<String, String>, GuestsError> {
    let top = system::folder_of(root, system);
    let phases = records.iter().flat_map(|record| &record.phases);
    let names = phases.filter_map(|phase| phase.programs.as_ref());
    let names: BTreeSet<&String> = names.flat_map(|done| &done.libraries).collect();
    let mut found = BTreeMap::new();
    for name in names {
        if system.add.iter().any(|added| Path::new(name).starts_with(added.at())) {
            continue;
        }
        let digest = digest_in(&top, name);
        if let Some(digest) = digest.map_err(GuestsError::folder(&top.join(name)))? {
            found.insert(name.clone(), digest);
        }
    }
    Ok(found)
}

/// Gives guests a program that the plan names. Returns its name and the digest of it and its
/// libraries: what it does in a guest depends on nothing else of this machine. Those of the
/// libraries are also told apart.
pub(super) fn add_command(
    root: &Root,
    name: &str,
    (toolbox, rules): (&Toolbox, Rules<'_>),
    libraries: &mut BTreeMap<String, String>,
) -> Result<String, GuestsError> {
    let path = toolbox
        .find(name, name)
        .map_err(|_| GuestsError::NoProgram { program: name.to_owned() })?;
    let mut digest = Sha256::new();
    for (place, copy) in root.add_program(&path, rules)?.iter().enumerate() {
        let bytes = fs::read(copy).map_err(GuestsError::folder(copy))?;
        if bytes.starts_with(b"#!") {
            return Err(GuestsError::Script { script: path });
        }
        // The program comes first.
        if place > 0 {
            let own = copy.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let digest = checksum_of(&mut bytes.as_slice()).map_err(GuestsError::folder(copy))?;
            libraries.insert(own, shortened(&digest));
        }
        digest.update(bytes);
    }
    Ok(format!("{name} sha256:{}", hex::encode(digest.finalize())))
}

/// The digest of a file of a system; none of what is no file. Links lead nowhere else than they do
/// for the system's own programs.
fn digest_in(top: &Path, name: &str) -> io::Result<Option<String>> {
    let folder = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
    let top = open(top, folder, Mode::empty())?;
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let links = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
    let mut file = match openat2(&top, name, flags, Mode::empty(), links) {
        Ok(file) => File::from(file),
        Err(rustix::io::Errno::NOENT) => return Ok(None),
        Err(errno) => return Err(errno.into()),
    };
    if !file.metadata()?.is_file() {
        return Ok(None);
    }
    Ok(Some(shortened(&checksum_of(&mut file)?)))
}

/// As much of a digest as is needed.
fn shortened(digest: &str) -> String {
    digest.chars().take(DIGITS).collect()
}

#[cfg(test)]
mod tests;
