//! What can go wrong with a lab kernel or an aged state, and their caches.

use std::io;
use std::path::{Path, PathBuf};

use miette::Diagnostic;
use ssdlab_host::program::ProgramError;
use ssdlab_host::trust::UntrustedPath;
use thiserror::Error;

/// A lab kernel that is not there, cannot be trusted, or cannot be built, or a cache that cannot be
/// used.
#[derive(Debug, Error, Diagnostic)]
pub enum KernelError {
    /// There is no folder for the caches.
    #[error("there is no folder for caches: neither XDG_CACHE_HOME nor HOME names one")]
    #[diagnostic(help("set XDG_CACHE_HOME to a folder of yours, or name a kernel: --kernel PATH"))]
    NoCache,
    /// None has been built.
    #[error("there is no lab kernel in {}", folder.display())]
    #[diagnostic(help(
        "build one, in a few minutes: ssdlab kernel build; or name one: --kernel PATH; or \
             install the Debian package of it that `make deb` makes in ssdlab's source"
    ))]
    NotBuilt { folder: PathBuf },
    /// It was built from other files than this program carries.
    #[error(
        "the lab kernel in {} was built from recipe {found}, but this program needs {expected}",
        folder.display()
    )]
    #[diagnostic(help("build it again: ssdlab kernel build; or name one: --kernel PATH"))]
    OtherRecipe {
        folder: PathBuf,
        /// The recipe it was built by.
        found: String,
        /// The recipe of this program.
        expected: String,
    },
    /// No kernel has the version that a plan names.
    #[error("there is no lab kernel of Linux {version}; found: {found}")]
    #[diagnostic(help(
        "build one beside the others, in a few minutes: ssdlab kernel build --source {from}; \
         or name a lab kernel by its path"
    ))]
    NoVersion {
        /// The parts of the version that were named.
        version: String,
        /// The versions that exist.
        found: String,
        /// A source of it on this machine, or `PATH`.
        from: String,
    },
    /// Several kernels have it.
    #[error("Linux {version} could be several lab kernels: {found}")]
    #[diagnostic(help("write more of the version"))]
    Ambiguous {
        /// The parts of the version that were named.
        version: String,
        /// Their versions.
        found: String,
    },
    /// The cache's contents have changed since they were written.
    #[error("the lab kernel in {} is damaged: {reason}", folder.display())]
    #[diagnostic(help("build it again: ssdlab kernel build"))]
    Damaged {
        folder: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A program that is not a lab kernel.
    #[error("{} is not a lab kernel: {reason}", path.display())]
    #[diagnostic(help("name one built by `ssdlab kernel build` or kernel/build"))]
    NoLabKernel {
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// Other users could change it.
    #[error("refusing to use {}, because others could change it: {exposed}", path.display())]
    #[diagnostic(help(
        "it and every folder above it must belong to you or root and be writable by nobody else: \
         chmod go-w {}; or set XDG_CACHE_HOME to a folder of yours, or name another kernel: \
         --kernel PATH",
        exposed.path.display()
    ))]
    Exposed {
        /// The file or the folder.
        path: PathBuf,
        /// The part of its path that they could change.
        exposed: UntrustedPath,
    },
    /// No source is installed.
    #[error(
        "there is no kernel source: looked in {} for linux-source-6.1.tar.* to \
         linux-source-6.12.tar.* and linux-source-7.3.tar.*, found {found}", folder.display()
    )]
    #[diagnostic(help(
        "install one: apt-get install linux-source-6.1 (Debian 12), linux-source-6.12 (Debian 13) \
         or linux-source (Ubuntu 24.04); or name a tarball or a tree: --source PATH"
    ))]
    NoSource {
        /// Where it was looked for.
        folder: PathBuf,
        /// The tarballs found instead.
        found: String,
    },
    /// The source that was named cannot be read.
    #[error("the kernel source {}: {cause}", path.display())]
    #[diagnostic(help("name a tarball or a tree of Linux 6.1 to 6.12 or 7.3"))]
    Source {
        /// The source.
        path: PathBuf,
        /// Why not.
        cause: io::Error,
    },
    /// Another build is running.
    #[error("another process builds a lab kernel in {}", folder.display())]
    #[diagnostic(help("wait for it to end"))]
    Busy { folder: PathBuf },
    /// This machine or the source lacks what a build needs.
    #[error("the lab kernel cannot be built here:\n{said}")]
    #[diagnostic(help("fix this, then run `ssdlab kernel build` again"))]
    Lacking {
        /// The end of what the build printed.
        said: String,
    },
    /// The build ran out of disk space or memory: this says nothing about the source.
    #[error("the build of the lab kernel ran out of {resource}:\n{said}")]
    #[diagnostic(help("free some, then run this again: it goes on where it stopped"))]
    Exhausted {
        /// What it ran out of.
        resource: &'static str,
        /// The end of what the build printed.
        said: String,
    },
    /// The source was fine, but did not become a kernel.
    #[error("the build of the lab kernel failed:\n{said}")]
    #[diagnostic(help(
        "try another source: --source PATH; Linux 6.1, 6.12 and 7.3 with gcc 12 are known to work"
    ))]
    Failed {
        /// The end of what the build printed.
        said: String,
    },
    /// A file or a folder.
    #[error("cannot {action} {}: {cause}", path.display())]
    #[diagnostic(help("caches are below XDG_CACHE_HOME; --kernel PATH names a kernel elsewhere"))]
    File {
        /// What was attempted.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        cause: io::Error,
    },
    /// A program could not be run.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Program(#[from] ProgramError),
}

impl KernelError {
    /// Names the action and the file an I/O error is about.
    pub(super) fn at(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |cause| Self::File { action, path, cause }
    }
}
