//! Errors of labs.

use std::io;
use std::path::{Path, PathBuf};

use miette::Diagnostic;
use ssdlab_host::program::ProgramError;
use ssdlab_host::undo::UndoError;
use thiserror::Error;

use super::safety::UnsafeDevice;

/// Why a lab cannot be opened, or a filesystem cannot be mounted.
#[derive(Debug, Error, Diagnostic)]
pub enum LabError {
    /// The lab needs root.
    #[error("the {lab} lab needs root: it {does}")]
    #[diagnostic(help(
        "run it with sudo; without root the directory lab measures a folder: --lab directory \
         --dir DIR"
    ))]
    NeedsRoot {
        lab: &'static str,
        /// What it does as root.
        does: &'static str,
    },
    /// A device must not be written to.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Refused(#[from] UnsafeDevice),
    /// This machine lacks something.
    #[error("{reason}")]
    Unavailable {
        /// What is missing.
        reason: String,
    },
    /// The folder has too little space.
    #[error(
        "{} has {free_bytes} bytes free; the image may grow to {needed_bytes}",
        folder.display()
    )]
    #[diagnostic(help(
        "name a folder with more space by --dir, or a smaller size in the plan's [target]"
    ))]
    NoSpace {
        folder: PathBuf,
        free_bytes: u64,
        /// The image's size.
        needed_bytes: u64,
    },
    /// A setting did not take effect.
    #[error("{what} was set to `{asked}`, but reads back as `{found}`")]
    Mismatch {
        /// The setting.
        what: String,
        /// The requested value.
        asked: String,
        /// The value read back.
        found: String,
    },
    /// The filesystem's own check found damage.
    #[error("`{check}` finds damage: {said}")]
    Damaged {
        check: String,
        /// The last of what it found.
        said: String,
    },
    /// The kernel refused a step.
    #[error("cannot {step} {}: {cause}", path.display())]
    Step {
        /// What was attempted.
        step: &'static str,
        path: PathBuf,
        /// Why not.
        cause: io::Error,
    },
    /// mkfs found the UUID that it was given on another device.
    #[error(
        "{failed}; another device has this UUID, perhaps the image of an interrupted run, which is \
         still attached: `ssdlab restore` detaches it"
    )]
    UuidInUse {
        /// How mkfs failed.
        failed: ProgramError,
    },
    /// A program failed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Program(#[from] ProgramError),
    /// A change could not be undone.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Undo(#[from] UndoError),
}

impl LabError {
    /// Refuses all users but root.
    pub(super) fn check_root(lab: &'static str, does: &'static str) -> Result<(), Self> {
        let is_root = rustix::process::geteuid().is_root();
        if is_root { Ok(()) } else { Err(Self::NeedsRoot { lab, does }) }
    }

    /// Adds the step and the path to an I/O error.
    pub(super) fn step(step: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |cause| Self::Step { step, path, cause }
    }
}
