//! What can go wrong with a git tree.

use std::io;
use std::path::{Path, PathBuf};

use miette::Diagnostic;
use ssdlab_host::program::ProgramError;
use ssdlab_host::trust::Exposed;
use thiserror::Error;

/// A tree or revisions that cannot be searched.
#[derive(Debug, Error, Diagnostic)]
pub enum BisectError {
    /// The folder is not part of a git repository.
    #[error("{} is not a git tree: {says}", tree.display())]
    #[diagnostic(help("name a clone of Linux with --tree; a tarball has no revisions"))]
    NoTree {
        /// The folder.
        tree: PathBuf,
        /// What git says.
        says: String,
    },
    /// A revision does not exist.
    #[error("{} has no revision `{revision}`", tree.display())]
    #[diagnostic(help(
        "name a commit, a tag or a branch: `git -C {} log` shows commits", tree.display()
    ))]
    NoRevision {
        /// The tree.
        tree: PathBuf,
        /// The revision.
        revision: String,
    },
    /// The good revision does not lead to the bad one.
    #[error("{good} is not an ancestor of {bad}, so that no commit leads from one to the other")]
    #[diagnostic(help("{help}"))]
    Unrelated {
        /// The good revision.
        good: String,
        /// The bad one.
        bad: String,
        /// What to name instead.
        help: String,
    },
    /// Another search is running.
    #[error("another search works in {}", folder.display())]
    #[diagnostic(help("wait for it to end, or interrupt it: it can be resumed"))]
    Busy {
        /// The folder.
        folder: PathBuf,
    },
    /// Others could change what is built there.
    #[error(
        "refusing to use {}, because others could change it: {exposed}", folder.display()
    )]
    #[diagnostic(help(
        "it and every folder above it must belong to you or root and be writable by nobody else: \
         chmod go-w {}, or set XDG_CACHE_HOME to a folder of yours",
        exposed.path.display()
    ))]
    Exposed {
        /// The folder.
        folder: PathBuf,
        /// The part of its path that they could change.
        exposed: Exposed,
    },
    /// Git failed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Program(#[from] ProgramError),
    /// A file or folder of the search.
    #[error("cannot {action} {}: {cause}", path.display())]
    #[diagnostic(help("check the free space and permissions there"))]
    File {
        /// What was attempted.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        cause: io::Error,
    },
}

impl BisectError {
    /// Names the action and the file that an I/O error is about.
    pub fn at(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |cause| Self::File { action, path, cause }
    }
}
