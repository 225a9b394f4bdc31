//! The libraries that programs of trials have used: what a result depends on beside the programs
//! themselves.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{Mode, OFlags, ResolveFlags, open, openat2};
use ssdlab_host::checksum::checksum_of;
use ssdlab_results::Record;

use super::error::GuestsError;
use super::guests::Guests;
use super::system;

/// How many hexadecimal digits tell two files apart.
const DIGITS: usize = 16;

impl Guests<'_> {
    /// The libraries that programs of these trials have used, each with the digest of its contents;
    /// those that the plan adds to their system are not among them, as the programs' own are not.
    pub fn libraries(&self, records: &[Record]) -> Result<BTreeMap<String, String>, GuestsError> {
        let mut found = self.libraries.clone();
        let Some(system) = &self.schedule.workload.system else { return Ok(found) };
        let top = system::folder_of(self.hypervisor.root.folder(), system);
        let phases = records.iter().flat_map(|record| &record.phases);
        let names = phases.filter_map(|phase| phase.programs.as_ref());
        let names: BTreeSet<&String> = names.flat_map(|done| &done.libraries).collect();
        for name in names {
            let is_own = |at: &Path| Path::new(name).starts_with(at);
            if system.add.iter().any(|added| is_own(added.at())) {
                continue;
            }
            let digest = digest_in(&top, name);
            if let Some(digest) = digest.map_err(GuestsError::folder(&top.join(name)))? {
                found.insert(name.clone(), digest);
            }
        }
        Ok(found)
    }
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
pub(super) fn shortened(digest: &str) -> String {
    digest.chars().take(DIGITS).collect()
}

#[cfg(test)]
mod tests;
