//! Builds the lab kernel of one revision after the other in one folder, so that each build compiles
//! only what differs from the one before.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};

use miette::Report;
use sha2::{Digest, Sha256};
use ssdlab_bisect::{BisectError, Checkout, History};
use ssdlab_host::base_folder::cache_folder;
use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::missing::if_there;
use ssdlab_host::program::ProgramError;
use ssdlab_host::whole_file;
use ssdlab_kernel::{self as kernel, KernelError, LabKernel, Progress};

use crate::kernel_progress::Shown;

/// Names the commit that the build's copy of the tree is of. Absent while it is being copied.
const COPIED: &str = "copied";

/// The folder of a tree's builds.
pub struct Workshop<'a> {
    history: &'a History<'a>,
    checkout: Checkout<'a>,
    interrupt: &'a Interrupt,
}

/// The folder that has the folder of each tree's builds.
pub fn folders() -> Option<PathBuf> {
    cache_folder().map(|cache| cache.join("bisect"))
}

impl<'a> Workshop<'a> {
    /// The folder of this tree.
    pub fn open(history: &'a History<'a>, interrupt: &'a Interrupt) -> Result<Self, Report> {
        let tree = history.tree().as_os_str().as_encoded_bytes();
        let name = hex::encode(Sha256::digest(tree))[..16].to_owned();
        let folder = folders().ok_or(KernelError::NoCache)?.join(name);
        let checkout = Checkout::open(history, &folder)?;
        Ok(Self { history, checkout, interrupt })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        self.checkout.folder()
    }

    /// Builds the kernel of a revision.
    pub fn build(&self, commit: &str) -> Result<Result<LabKernel, KernelError>, BisectError> {
        self.checkout.go_to(commit)?;
        self.remove_old(commit)?;
        let copied = self.folder().join(COPIED);
        if_there(fs::remove_file(&copied)).map_err(BisectError::at("remove", &copied))?;
        let mut shown = Shown::new();
        let (is_copied, kept) = (Cell::new(false), Cell::new(Ok(())));
        let mut tell = |progress: Progress<'_>| {
            if let Progress::Step(step) = progress
                && !is_copied.get()
                && !step.starts_with("copy")
                && !step.starts_with("waiting")
            {
                is_copied.set(true);
                kept.set(whole_file::write(&copied, |out| out.write_all(commit.as_bytes())));
            }
            shown.tell(progress);
        };
        let tree = self.checkout.tree();
        let built = kernel::build_in(self.folder(), tree, self.interrupt, &mut tell);
        shown.finish();
        kept.into_inner().map_err(BisectError::at("write", &copied))?;
        Ok(built)
    }

    /// Removes what the build's copy has of another revision: files that this one lacks, or all of
    /// a copy that was interrupted, in which a file may be cut off, or whose commit is unknown.
    fn remove_old(&self, commit: &str) -> Result<(), BisectError> {
        let output = self.folder().join("output");
        let before = fs::read_to_string(self.folder().join(COPIED)).ok();
        let too_many = match before.map(|before| self.history.lacks(commit, &before)) {
            // The tree may have lost that commit since.
            None | Some(Err(BisectError::Program(ProgramError::Failed { .. }))) => {
                if_there(fs::remove_dir_all(&output))
                    .map_err(BisectError::at("remove", &output))?;
                return Ok(());
            }
            Some(files) => files?,
        };
        for file in too_many {
            let file = output.join("tree").join(file);
            if_there(fs::remove_file(&file)).map_err(BisectError::at("remove", &file))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
