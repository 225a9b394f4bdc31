//! Undoes every change made to the machine: at the end, on an error, on a signal, and by
//! `ssdlab restore` after a kill.

mod change;
mod fuzzing;
mod journal;
mod name;

use std::io;
use std::path::{Path, PathBuf};

use miette::Diagnostic;
use thiserror::Error;

pub use change::Change;
#[doc(hidden)]
pub use fuzzing::fuzz_journal;
pub use journal::{Journal, Restored, restore};

/// A change that could not be taken back.
#[derive(Debug, Error, Diagnostic)]
#[error("cannot {verb} {}: {cause}", path.display())]
#[diagnostic(help("stop the programs that use it, then run `ssdlab restore`"))]
pub struct UndoError {
    verb: &'static str,
    path: PathBuf,
    cause: io::Error,
}

impl UndoError {
    fn new(verb: &'static str, path: &Path, cause: io::Error) -> Self {
        Self { verb, path: path.to_owned(), cause }
    }
}

/// The location of undo journals: `$XDG_STATE_HOME/ssdlab/undo`, where the variable defaults to
/// `/var/lib` for root (also via sudo) and `~/.local/state` for others; for a user without a
/// writable home, a private folder under the temporary directory. Not a run-time folder: those end
/// with the session or the boot, and leftovers on disk after a crash of the machine would be
/// forgotten.
#[must_use]
pub fn folders() -> Vec<PathBuf> {
    // The specification requires relative paths to be ignored.
    let set = |name: &str| {
        std::env::var_os(name).map(PathBuf::from).filter(|folder| folder.is_absolute())
    };
    let user = rustix::process::geteuid();
    let home = || set("HOME").map(|home| home.join(".local/state"));
    let state = match set("XDG_STATE_HOME") {
        Some(folder) => Some(folder),
        None if user.is_root() => Some(PathBuf::from("/var/lib")),
        None => home(),
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
