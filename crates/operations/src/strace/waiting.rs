//! The part of strace's output that cannot be processed yet: unfinished calls, and lines of
//! processes whose parents are unknown.

use std::collections::BTreeMap;

/// Stores it, and counts its bytes.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// Unfinished calls, by process, as far as they were printed.
    begun: BTreeMap<u64, Vec<u8>>,
    /// Lines with their numbers, by process.
    orphaned: BTreeMap<u64, Vec<(u64, Vec<u8>)>>,
    /// The processes of these lines, by the number of the first.
    orphans: BTreeMap<u64, u64>,
    /// Lines by number whose processes are known by now, to be processed before others are read.
    adopted: BTreeMap<u64, Vec<u8>>,
    bytes: usize,
}

impl Waiting {
    /// The number of bytes stored.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Stores the beginning of a process's call.
    pub fn begin(&mut self, process: u64, call: &[u8]) {
        self.resume(process);
        self.bytes += call.len();
        self.begun.insert(process, call.to_vec());
    }

    /// Removes the beginning of a process's call.
    pub fn resume(&mut self, process: u64) -> Option<Vec<u8>> {
        let begun = self.begun.remove(&process)?;
        self.bytes -= begun.len();
        Some(begun)
    }

    /// Keeps a line until the parent of its process is known.
    pub fn put_aside(&mut self, number: u64, process: u64, line: &[u8]) {
        self.bytes += line.len();
        let lines = self.orphaned.entry(process).or_default();
        if lines.is_empty() {
            self.orphans.insert(number, process);
        }
        lines.push((number, line.to_vec()));
    }

    /// The first process whose parent is unknown.
    pub fn orphan(&self) -> Option<u64> {
        self.orphans.first_key_value().map(|(_, process)| *process)
    }

    /// Releases the lines of a process whose parent is known now.
    pub fn adopt(&mut self, process: u64) {
        let lines = self.orphaned.remove(&process).unwrap_or_default();
        if let Some((first, _)) = lines.first() {
            self.orphans.remove(first);
        }
        self.adopted.extend(lines);
    }

    /// The first line of adopted processes, with its number.
    pub fn next_adopted(&mut self) -> Option<(u64, Vec<u8>)> {
        let (number, line) = self.adopted.pop_first()?;
        self.bytes -= line.len();
        Some((number, line))
    }
}
