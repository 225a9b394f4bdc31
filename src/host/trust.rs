//! Whether others can change or replace the object at a path. Anything that is run, mounted or
//! acted upon later must be protected from them, and so must every folder above it.

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A component of a path that others can change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exposed {
    /// The part.
    pub path: PathBuf,
    /// Why they can.
    pub reason: String,
}

impl fmt::Display for Exposed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.reason)
    }
}

/// The first component of a path, from its end, that users other than root and the given one can
/// change; `None` if there is none. The path must be absolute and free of links, whose targets may
/// change.
pub fn exposed(path: &Path, user: u32) -> io::Result<Option<Exposed>> {
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
        return Ok(Some(Exposed { path: part.to_owned(), reason }));
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn every_folder_above_counts_and_a_sticky_one_protects() {
        let place = tempfile::tempdir().unwrap();
        let place = place.path().canonicalize().unwrap();
        let (above, folder) = (place.join("a"), place.join("a/b"));
        fs::create_dir_all(&folder).unwrap();
        let user = rustix::process::geteuid().as_raw();
        let mode = |path: &Path, mode: u32| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        let found = |path: &Path| exposed(path, user).unwrap().map(|exposed| exposed.path);
        assert_eq!(found(&folder), None);
        for open in [0o777, 0o775] {
            mode(&above, open);
            assert_eq!(found(&folder), Some(above.clone()));
        }
        mode(&above, 0o1777);
        assert_eq!(found(&folder), None);
        assert_eq!(found(&above), Some(above.clone()), "what is in it is anybody's");
        let link = place.join("link");
        symlink(&folder, &link).unwrap();
        assert_eq!(found(&link), Some(link.clone()));
        if user == 0 {
            std::os::unix::fs::chown(&folder, Some(4321), None).unwrap();
            assert_eq!(found(&folder), Some(folder));
        }
    }
}
