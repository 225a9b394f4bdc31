//! Undoes every change made to the machine: at the end, on an error, on a signal, and by
//! `ssdlab restore` after a kill.

mod attribute;
mod change;
#[cfg(any(test, fuzzing))]
mod fuzzing;
mod journal;
mod lines;
mod name;

use std::io;
use std::path::{Path, PathBuf};

use crate::base_folder::{base_folder, named_by};
use miette::Diagnostic;
use thiserror::Error;

pub use attribute::Attribute;
pub use change::Change;
#[doc(hidden)]
#[cfg(fuzzing)]
pub use fuzzing::fuzz_journal;
pub use journal::{Journal, Restored, has_leftovers, restore};

/// A change that could not be taken back.
#[derive(Debug, Error, Diagnostic)]
#[error("cannot {verb} {}: {cause}", path.display())]
pub struct UndoError {
    verb: &'static str,
    path: PathBuf,
    cause: io::Error,
    #[help]
    help: &'static str,
}

/// The remedies for a change whose object is in use, and for one that needs inspection.
const IN_USE: &str = "stop the programs that use it, then run `ssdlab restore`";
const BY_HAND: &str = "undo by hand what it names (umount, losetup --detach, rm), then remove the \
                       journal; whatever else it lists is undone, or an error of its own";

/// The remedy for a drive that is not there.
const MISSING: &str = "connect the drive, by one path only, then run `ssdlab restore`; if it is \
                       gone for good, run that until it names nothing else, then remove the \
                       journal";

impl UndoError {
    fn new(verb: &'static str, path: &Path, cause: io::Error) -> Self {
        Self { verb, path: path.to_owned(), cause, help: IN_USE }
    }

    /// The same for a problem that waiting does not solve.
    fn by_hand(verb: &'static str, path: &Path, cause: io::Error) -> Self {
        Self { help: BY_HAND, ..Self::new(verb, path, cause) }
    }

    /// The same for a change of a drive that is missing.
    fn missing(verb: &'static str, path: &Path, cause: io::Error) -> Self {
        Self { help: MISSING, ..Self::new(verb, path, cause) }
    }
}

/// The location of undo journals: `$XDG_STATE_HOME/ssdlab/undo`, where the variable defaults to
/// `/var/lib` for root (also via sudo) and `~/.local/state` for others; for a user without a
/// writable home, a private folder under the temporary directory. Not a run-time folder: those end
/// with the session or the boot, and leftovers on disk after a crash of the machine would be
/// forgotten.
#[must_use]
pub fn folders() -> Vec<PathBuf> {
    let user = rustix::process::geteuid();
    let state = if user.is_root() {
        named_by("XDG_STATE_HOME").or_else(|| Some(PathBuf::from("/var/lib")))
    } else {
        base_folder("XDG_STATE_HOME", ".local/state")
    };
    // Never for root: any user could create the folder first.
    let name = format!("ssdlab-state-{}", user.as_raw());
    let private = (!user.is_root()).then(|| std::env::temp_dir().join(name));
    state.into_iter().chain(private).map(|folder| folder.join("ssdlab/undo")).collect()
}

/// Starts the journal of a run in the first usable folder.
pub fn start() -> io::Result<Journal> {
    let mut refused = io::Error::from(io::ErrorKind::NotFound);
    for folder in folders() {
        match Journal::create(&folder) {
            Ok(journal) => return Ok(journal),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}
