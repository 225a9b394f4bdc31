//! Taking back every change made to the machine: at the end, on an error, on a signal, and by
//! `ssdlab restore` after a kill.

mod change;
mod journal;

use std::io;
use std::path::{Path, PathBuf};

use miette::Diagnostic;
use thiserror::Error;

pub use change::Change;
pub use journal::{Journal, Restored, restore};

/// A change that could not be taken back.
#[derive(Debug, Error, Diagnostic)]
#[error("cannot {verb} {}: {cause}", path.display())]
#[diagnostic(help("end what uses it, then run `ssdlab restore`"))]
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

/// The folder of the undo journals: under `XDG_RUNTIME_DIR`, else `/run/ssdlab` for root and a
/// private folder under the temporary directory for others.
#[must_use]
pub fn folder() -> PathBuf {
    let user = rustix::process::geteuid();
    match std::env::var_os("XDG_RUNTIME_DIR").filter(|dir| !dir.is_empty()) {
        Some(dir) => PathBuf::from(dir).join("ssdlab"),
        None if user.is_root() => PathBuf::from("/run/ssdlab"),
        None => std::env::temp_dir().join(format!("ssdlab-{}", user.as_raw())),
    }
}
