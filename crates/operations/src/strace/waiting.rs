//! What of strace's output cannot be understood yet: calls that have begun, and lines of processes
//! whose parents are not known.

use std::collections::BTreeMap;

/// Keeps it, and counts its bytes.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// Calls during which others call, by process, as far as they were printed.
    begun: BTreeMap<u64, Vec<u8>>,
    /// Lines with their numbers, by process.
    orphaned: BTreeMap<u64, Vec<(u64, Vec<u8>)>>,
    /// The processes of these lines, by the number of the first.
    orphans: BTreeMap<u64, u64>,
    /// Lines by number whose processes are known by now, to be looked at before others are read.
    adopted: BTreeMap<u64, Vec<u8>>,
    bytes: usize,
}

impl Waiting {
    /// How many bytes there are.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// A process has begun a call.
    pub fn begin(&mut self, process: u64, call: &[u8]) {
        self.resume(process);
        self.bytes += call.len();
        self.begun.insert(process, call.to_vec());
    }

    /// What it has begun.
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

    /// The process seen first whose parent is not known.
    pub fn orphan(&self) -> Option<u64> {
        self.orphans.first_key_value().map(|(_, process)| *process)
    }

    /// The parent of a process is known.
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
