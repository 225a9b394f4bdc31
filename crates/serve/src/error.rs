//! Defines why a disk cannot be served.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a disk cannot be served.
#[derive(Debug, Error)]
pub enum ServeError {
    /// A step on the way failed.
    #[error("cannot {doing} {}: {cause}", path.display())]
    Step {
        /// What was tried.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// The machine's own error.
        #[source]
        cause: io::Error,
    },
    /// Somebody serves there already.
    #[error("{} is in use: a server listens there", .0.display())]
    InUse(PathBuf),
    /// There is something else where the socket is to be.
    #[error("{} exists and is not a socket", .0.display())]
    NotASocket(PathBuf),
    /// Something is mounted on the directory, perhaps by another server.
    #[error("something is mounted on {}", .0.display())]
    Mounted(PathBuf),
    /// The directory is not an empty one.
    #[error("{} is not an empty directory", .0.display())]
    NotEmpty(PathBuf),
    /// The disk cannot look as it should.
    #[error("{what} is {found}, not {expected}")]
    Shape {
        /// Which part of its shape.
        what: &'static str,
        /// What that may be.
        expected: &'static str,
        /// What it is.
        found: String,
    },
}

/// Why a virtual machine is not served any more, where it did not simply go. The disk is served on.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Departure {
    /// It went when it had heard what the disk can do.
    #[error("a virtual machine left without using the disk, which has one queue")]
    Unused,
    /// It was disconnected, because what it did makes no sense.
    #[error("a virtual machine was disconnected: {0}")]
    Disconnected(String),
}

impl ServeError {
    /// What an error of the machine becomes.
    pub(crate) fn step(
        doing: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |cause| Self::Step { doing, path, cause }
    }
}
