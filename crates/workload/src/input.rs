//! Files named by a plan: read once, into private memory.
//!
//! All trials of a run must use the same bytes, even if the file is edited. A node, and a resumed
//! run, read it again and compare its hash with the one from the run's start.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

use miette::Diagnostic;
use rustix::fs::{MemfdFlags, memfd_create};
use ssdlab_host::files::checksum_of;
use ssdlab_host::interrupt::{Interrupt, Interruptible};
use ssdlab_host::{memory, regular_file};
use ssdlab_plan::schedule::FileHashes;
use thiserror::Error;

/// A file that cannot be used.
#[derive(Debug, Error, Diagnostic)]
pub enum InputError {
    /// It could not be read.
    #[error("cannot read {}: {cause}", path.display())]
    #[diagnostic(help("the plan names it: it must be a readable file"))]
    Unreadable { path: PathBuf, cause: io::Error },
    /// The run is to stop.
    #[error("interrupted")]
    Interrupted,
    /// It is not what it was.
    #[error(
        "{} has changed since the run began: its SHA-256 was {expected} and is {found}",
        path.display()
    )]
    #[diagnostic(help("restore the file, or start another run"))]
    Changed {
        path: PathBuf,
        /// Its hash when the run started.
        expected: String,
        /// Its hash now.
        found: String,
    },
}

/// A copy of a file in memory, to be read from its beginning. It is an error if the file is not one
/// of `hashes` any more; without a hash any contents will do. A request to stop is an error, too.
pub fn private(
    path: &Path,
    hashes: &FileHashes,
    interrupt: &Interrupt,
) -> Result<File, InputError> {
    let unreadable = |cause| {
        if interrupt.is_set() {
            return InputError::Interrupted;
        }
        InputError::Unreadable { path: path.to_owned(), cause }
    };
    let opened = regular_file::open(path);
    let mut copy = opened.and_then(|file| in_memory(file, interrupt)).map_err(unreadable)?;
    if let Some(expected) = hashes.get(path) {
        let found = checksum_of(&mut Interruptible::new(&copy, interrupt)).map_err(unreadable)?;
        copy.rewind().map_err(unreadable)?;
        if found != *expected {
            let (path, expected) = (path.to_owned(), expected.clone());
            return Err(InputError::Changed { path, expected, found });
        }
    }
    Ok(copy)
}

/// What can be read, in memory: up to half of what is free.
pub fn in_memory(from: impl Read, interrupt: &Interrupt) -> io::Result<File> {
    let mut from = Interruptible::new(from, interrupt);
    let mut copy = File::from(memfd_create("input", MemfdFlags::CLOEXEC)?);
    let most = memory::available_bytes() / 2;
    let length = io::copy(&mut from.by_ref().take(most), &mut copy)?;
    if length == most && from.read(&mut [0])? > 0 {
        let message = format!("it has more than {most} bytes, half of the free memory");
        return Err(io::Error::new(io::ErrorKind::OutOfMemory, message));
    }
    copy.rewind()?;
    Ok(copy)
}

#[cfg(test)]
mod tests;
