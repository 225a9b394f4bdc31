//! Undoes every change made to the machine: at the end, on an error, on a signal, and by
//! `ssdlab restore` after a kill.

mod attribute;
mod change;
mod error;
#[cfg(any(test, fuzzing))]
mod fuzzing;
mod journal;
mod lines;
mod name;

use std::io;
use std::path::PathBuf;

use crate::base_folder::{base_folder, named_by};

pub use attribute::Attribute;
pub use change::{Change, TWEAK_LIMIT, is_writeback, writeback_path};
pub use error::UndoError;
#[doc(hidden)]
#[cfg(fuzzing)]
pub use fuzzing::fuzz_journal;
pub use journal::{Journal, Leftovers, RestoreOutcome, leftovers, restore};

/// The location of undo journals: `$XDG_STATE_HOME/ssdlab/undo`, where the variable defaults to
/// `/var/lib` for root (also via sudo) and `~/.local/state` for others; for a user without a
/// writable home, a private folder under the temporary directory. Not a run-time folder: those end
/// with the session or the boot, and leftovers on disk after a crash of the machine would be
/// forgotten.
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
