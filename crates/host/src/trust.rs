//! Whether others can change or replace the object at a path. Anything that is run, mounted or
//! acted upon later must be protected from them, and so must every folder above it.

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A component of a path that others can change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UntrustedPath {
    /// The part.
    pub path: PathBuf,
    /// Why they can.
    pub reason: String,
}

impl fmt::Display for UntrustedPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.reason)
    }
}

/// The first component of a path, from its end, that users other than root and this process's can
/// change; `None` if there is none. The path must be absolute and free of links, whose targets may
/// change.
pub fn exposed_to_others(path: &Path) -> io::Result<Option<UntrustedPath>> {
    exposed(path, rustix::process::geteuid().as_raw())
}

/// As [`exposed_to_others`], to users other than root and the given one.
pub fn exposed(path: &Path, user: u32) -> io::Result<Option<UntrustedPath>> {
    for (above, part) in path.ancestors().enumerate() {
        let found = fs::symlink_metadata(part)?;
        let (mode, owner) = (found.mode() & 0o7777, found.uid());
        // In a sticky folder only a name's owner can replace it.
        let is_sticky = above > 0 && mode & 0o1000 != 0;
        let reason = if found.is_symlink() {
            "it is a symbolic link".to_owned()
        } else if ![user, 0].contains(&owner) {
            format!("it belongs to user {owner}, not to user {user} or root")
        } else if mode & 0o022 != 0 && !is_sticky {
            format!("it is writable by other users (mode {mode:o})")
        } else {
            continue;
        };
        return Ok(Some(UntrustedPath { path: part.to_owned(), reason }));
    }
    Ok(None)
}

#[cfg(test)]
mod tests;
