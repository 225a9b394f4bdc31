//! Where a phase works, and what it did.

use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::Command;

use ssdlab_host::program::{self, Rules};
use ssdlab_host::thread::Usage;
use ssdlab_operations::calls::ProgramActivity;

use super::WorkloadError;
use super::player::sync_filesystem;
use crate::engine::OperationTally;

/// Where a phase works and when it must stop.
#[derive(Debug, Clone, Copy)]
pub struct PhaseContext<'a> {
    /// The trial's directory.
    pub directory: &'a Path,
    /// Where the filesystem is mounted.
    pub mounted_at: &'a Path,
    /// The command that commits what sync(2) leaves in memory; empty if it leaves nothing.
    pub commit: &'a [String],
    /// The rules for programs, whose limit and interrupt also bind the player.
    pub rules: Rules<'a>,
}

impl PhaseContext<'_> {
    /// Syncs the filesystem of an open directory to its device.
    pub(super) fn sync(&self, directory: impl AsFd) -> Result<(), WorkloadError> {
        sync_filesystem(directory)?;
        if let Some((program, arguments)) = self.commit.split_first() {
            let mut command = Command::new(program);
            command.args(arguments);
            program::run(command, self.rules)?;
        }
        Ok(())
    }
}

/// What a phase did.
#[derive(Debug, Default)]
pub struct PhaseOutcome {
    /// Bytes written by the workload; `None` if its own thread did not do the work.
    pub application_bytes: Option<u64>,
    /// The part written through `io_uring`, which the kernel attributes to no thread: the
    /// completions give the number of bytes.
    pub ring_bytes: u64,
    /// Operations that the workload counted and timed.
    pub counted: Option<OperationTally>,
    /// The resources used by additional threads that have ended.
    pub threads: Usage,
    /// What a program reported about itself.
    pub reported: BTreeMap<String, f64>,
    /// What the programs of a command in a system did.
    pub programs: Option<ProgramActivity>,
    /// A caveat about the numbers.
    pub remark: Option<String>,
}

impl PhaseOutcome {
    pub(super) fn wrote(bytes: u64) -> Self {
        Self { application_bytes: Some(bytes), ..Self::default() }
    }
}
