//! Defines why a disk cannot be served.

use std::io;
use std::path::PathBuf;

use crate::InvalidValue;
use ssdlab_host::lock::LockHolder;
use thiserror::Error;

/// Why a disk cannot be served.
#[derive(Debug, Error)]
pub enum ServeError {
    /// A step failed.
    #[error("cannot {doing} {}: {cause}", path.display())]
    Step {
        /// What was tried.
        doing: &'static str,
        path: PathBuf,
        /// The machine's own error.
        #[source]
        cause: io::Error,
    },
    /// No socket can be made at the path.
    #[error("cannot listen at {}: {cause}", path.display())]
    Listen {
        path: PathBuf,
        /// The machine's own error.
        #[source]
        cause: io::Error,
    },
    /// A socket exists at the path, and whether a server listens at it is unknown.
    #[error("cannot tell whether anybody listens at {}: {cause}", path.display())]
    Unanswered {
        path: PathBuf,
        /// The machine's own error.
        #[source]
        cause: io::Error,
    },
    /// The lock of the socket's folder, under which servers replace dead sockets, is held.
    #[error(
        "cannot make a socket in {}: the folder's lock is held by {}",
        folder.display(),
        holder.map_or_else(|| "another program".to_owned(), |holder| holder.to_string())
    )]
    Locked {
        folder: PathBuf,
        /// Who holds it, if that can be told.
        holder: Option<LockHolder>,
    },
    /// Another server listens there.
    #[error("{} is in use: a server listens there", .0.display())]
    InUse(PathBuf),
    /// The path of the socket is another kind of file.
    #[error("{} exists and is not a socket", .0.display())]
    NotASocket(PathBuf),
    /// Something is mounted on the directory, perhaps by another server.
    #[error("something is mounted on {}", .0.display())]
    Mounted(PathBuf),
    /// The directory is not empty.
    #[error("{} is not an empty directory", .0.display())]
    NotEmpty(PathBuf),
    /// The disk's shape is invalid.
    #[error(transparent)]
    Shape(#[from] InvalidValue),
}

/// Why a virtual machine is no longer served, if it did not simply disconnect. The disk stays
/// available.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Departure {
    /// It left after reading the disk's features.
    #[error("a virtual machine left without using the disk, which has one queue")]
    Unused,
    /// It was disconnected because of invalid behaviour.
    #[error("a virtual machine was disconnected: {0}")]
    Disconnected(String),
}

impl ServeError {
    /// The error for a failed step.
    pub(crate) fn step(
        doing: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |cause| Self::Step { doing, path, cause }
    }
}
