//! Errors of storing and reading runs.

use std::io;
use std::path::{Path, PathBuf};

use miette::Diagnostic;
use ssdlab_host::regular_file;
use thiserror::Error;

use super::paths::{run_folders, runs_in};

/// A run that cannot be stored or read.
#[derive(Debug, Error, Diagnostic)]
pub enum StoreError {
    /// A file could not be read or written.
    #[error("cannot {step} {}: {cause}", path.display())]
    Io { step: &'static str, path: PathBuf, cause: io::Error },
    /// There is no such run.
    #[error("there is no run {}: {why}", path.display())]
    #[diagnostic(help(
        "{}runs are in {}; name one of them, its folder, or another results folder with --results",
        did_you_mean(path, folder),
        folder.display()
    ))]
    NoRun {
        /// The requested path.
        path: PathBuf,
        /// What it is instead.
        why: String,
        /// Where runs are.
        folder: PathBuf,
    },
    /// A line is not a record.
    #[error("{}, line {line} is not a record: {cause}", path.display())]
    #[diagnostic(help(
        "something else changed the file; the other lines are intact, so remove this line to keep \
         them"
    ))]
    Corrupt {
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        cause: serde_json::Error,
    },
    /// A schedule is malformed.
    #[error("{} is not a schedule: {cause}", path.display())]
    #[diagnostic(help("start a new run from the plan.toml beside it; the records are unchanged"))]
    Malformed { path: PathBuf, cause: serde_json::Error },
    /// A schedule whose parts do not fit each other.
    #[error("{} was changed: {fault}", path.display())]
    #[diagnostic(help("start a new run from the plan.toml beside it"))]
    Unsound {
        path: PathBuf,
        /// What does not fit, or is out of range.
        fault: String,
    },
    /// An ending is malformed.
    #[error("cannot read how the run ended from {}: {cause}", path.display())]
    #[diagnostic(help(
        "the records are unchanged; if you remove the file, the run counts as interrupted"
    ))]
    Ending { path: PathBuf, cause: serde_json::Error },
    /// A newer program wrote it.
    #[error("{} has schema {found}; this program reads up to {known}", path.display())]
    #[diagnostic(help("read it with the version of ssdlab that wrote it, or a newer one"))]
    Newer {
        path: PathBuf,
        /// Its schema.
        found: u64,
        /// The newest this program reads.
        known: u32,
    },
    /// Another program is appending to it.
    #[error("{} is being written by another ssdlab", path.display())]
    #[diagnostic(help("wait for that run to end, or stop it"))]
    Busy {
        /// The run's folder.
        path: PathBuf,
    },
}

impl StoreError {
    /// Says what is at a path instead of a run's folder. Runs are beside it, or in `folder`.
    pub fn no_run(path: &Path, folder: PathBuf) -> Self {
        if holds_runs(path) {
            let why = "it is a folder of runs".to_owned();
            return Self::NoRun { path: path.to_owned(), why, folder: path.to_owned() };
        }
        let beside = path.parent().filter(|parent| holds_runs(parent));
        let folder = beside.map_or(folder, Path::to_owned);
        let kind = regular_file::other_kind(path).unwrap_or("a file");
        let why = if path.exists() && !path.is_dir() {
            format!("it is {kind}, not the folder of a run")
        } else {
            "no schedule.json found".to_owned()
        };
        Self::NoRun { path: path.to_owned(), why, folder }
    }
}

fn holds_runs(folder: &Path) -> bool {
    run_folders(folder).next().is_some()
}

/// A question to begin a help text with, if a run in a folder has a name like the last of a path.
fn did_you_mean(path: &Path, folder: &Path) -> String {
    let named = path.file_name().unwrap_or_default().to_string_lossy();
    ssdlab_plan::did_you_mean(&named, runs_in(folder).iter().map(String::as_str))
}

pub(super) fn at<'a>(
    step: &'static str,
    path: &'a Path,
) -> impl FnOnce(io::Error) -> StoreError + 'a {
    move |cause| StoreError::Io { step, path: path.to_owned(), cause }
}
