//! A list of operations in the making, for the workloads that imitate programs.

use std::sync::Arc;

use super::random::Random;
use crate::workload::operation::{Content, Operation};

/// Operations so far; it chooses the seeds of the contents.
#[derive(Debug)]
pub(super) struct Script {
    operations: Vec<Operation>,
    random: Random,
}

impl Script {
    pub(super) fn new(random: Random) -> Self {
        Self { operations: Vec::new(), random }
    }

    pub(super) fn finish(self) -> Vec<Operation> {
        self.operations
    }

    pub(super) fn push(&mut self, operation: Operation) {
        self.operations.push(operation);
    }

    pub(super) fn make_dir(&mut self, path: &str) {
        self.push(Operation::MakeDir { path: path.into() });
    }

    /// Writes a text file.
    pub(super) fn text(&mut self, path: &str, bytes: u64) {
        let seed = self.random.bits();
        self.write(path, bytes, Content::Text { seed }, 0o644);
    }

    /// Writes a text file that may be executed.
    pub(super) fn program_text(&mut self, path: &str, bytes: u64) {
        let seed = self.random.bits();
        self.write(path, bytes, Content::Text { seed }, 0o755);
    }

    /// Writes a file that does not compress.
    pub(super) fn binary(&mut self, path: &str, bytes: u64) {
        let seed = self.random.bits();
        self.write(path, bytes, Content::Binary { seed }, 0o644);
    }

    /// Writes a file of object code.
    ///
    /// Object code compresses 3.6:1 (zlib level 6, runs of 128 KiB, every eighth module of
    /// Debian's kernel 6.1.192), a little less than text. One file in 16 that does not compress
    /// among others that are like text comes to the same: 1 / (15/16 / 4.3 + 1/16) = 3.6.
    pub(super) fn object(&mut self, path: &str, bytes: u64) {
        if self.random.one_in(16) {
            self.binary(path, bytes);
        } else {
            self.text(path, bytes);
        }
    }

    pub(super) fn read(&mut self, path: &Arc<str>) {
        self.push(Operation::ReadFile { path: Arc::clone(path) });
    }

    pub(super) fn rename(&mut self, from: &str, to: &str) {
        self.push(Operation::Rename { from: from.into(), to: to.into() });
    }

    pub(super) fn remove(&mut self, path: &str) {
        self.push(Operation::Remove { path: path.into() });
    }

    fn write(&mut self, path: &str, bytes: u64, content: Content, mode: u32) {
        self.push(Operation::WriteFile { path: path.into(), bytes, content, mode, mtime_s: None });
    }
}
