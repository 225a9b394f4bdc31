//! The error of a change that could not be taken back, and its remedies.

use std::io;
use std::path::{Path, PathBuf};

use miette::Diagnostic;
use thiserror::Error;

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

/// The remedy for a command of the user's that failed.
const OWN_COMMAND: &str = "take back by hand what your command changed, then remove the line from \
                           the journal, or mend the command and run `ssdlab restore`";

impl UndoError {
    pub(super) fn new(verb: &'static str, path: &Path, cause: io::Error) -> Self {
        Self { verb, path: path.to_owned(), cause, help: IN_USE }
    }

    /// The same for a problem that waiting does not solve.
    pub(super) fn by_hand(verb: &'static str, path: &Path, cause: io::Error) -> Self {
        Self { help: BY_HAND, ..Self::new(verb, path, cause) }
    }

    /// The command of the user's that failed, as a path.
    pub(super) fn by_user(command: &str, cause: io::Error) -> Self {
        let help = OWN_COMMAND;
        Self { help, ..Self::new("take back your tweak with", Path::new(command), cause) }
    }

    /// The same for a change of a drive that is missing.
    pub(super) fn missing(verb: &'static str, path: &Path, cause: io::Error) -> Self {
        Self { help: MISSING, ..Self::new(verb, path, cause) }
    }
}
