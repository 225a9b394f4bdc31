//! Defines the totals of a log.

use std::collections::BTreeMap;
use std::io::BufRead;

use crate::{Entry, LogError, Operation, Reader};

/// What a log holds, counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Files in the directory before the operations; names of the same one count once.
    pub files_before: u64,
    /// The bytes of these files.
    pub bytes_before: u64,
    /// System calls by the word that a log has for them, of those there are.
    pub calls: BTreeMap<&'static str, u64>,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
}

impl Statistics {
    /// Counts what is left of a log.
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

    /// Files created, counting those removed again later.
    #[must_use]
    pub fn files_created(&self) -> u64 {
        self.count("create")
    }

    /// Bytes of a write, on average; none without writes.
    #[must_use]
    pub fn mean_write_bytes(&self) -> Option<f64> {
        let writes = self.count("write");
        (writes > 0).then(|| self.written_bytes as f64 / writes as f64)
    }
}
