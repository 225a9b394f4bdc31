//! Defines the totals of a log.

use std::collections::BTreeMap;
use std::io::BufRead;

use crate::{Entry, LogError, Operation, Reader};

/// The counts of a log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Files in the initial directory; hard links count once.
    pub files_before: u64,
    /// The bytes of these files.
    pub bytes_before: u64,
    /// System calls by their names in logs, if any.
    pub calls: BTreeMap<&'static str, u64>,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
}

impl Statistics {
    /// Counts the rest of a log.
    pub fn of<R: BufRead>(log: &mut Reader<R>) -> Result<Self, LogError> {
        let mut statistics = Self::default();
        while let Some(entry) = log.next_entry()? {
            if let Entry::File { size_bytes, .. } = entry {
                statistics.files_before += 1;
                statistics.bytes_before = statistics.bytes_before.saturating_add(size_bytes);
            }
        }
        while let Some(operation) = log.next_operation()? {
            statistics.add(&operation);
        }
        Ok(statistics)
    }

    /// Counts an operation.
    pub fn add(&mut self, operation: &Operation) {
        let calls = self.calls.entry(operation.name()).or_default();
        *calls = calls.saturating_add(operation.calls());
        match operation {
            Operation::Read(transfer) => {
                self.read_bytes = self.read_bytes.saturating_add(transfer.bytes());
            }
            Operation::Write(transfer) => {
                self.written_bytes = self.written_bytes.saturating_add(transfer.bytes());
            }
            _ => {}
        }
    }

    /// How many calls of this name there are, such as `create`, `unlink` or `fsync`.
    #[must_use]
    pub fn count(&self, name: &str) -> u64 {
        self.calls.get(name).copied().unwrap_or(0)
    }
}
