//! Limits on the memory that files named by a plan may take, enforced before it is allocated.
//!
//! Such a file is untrusted: some kilobytes of it can expand to any number of names, by
//! compression, or because each entry of an archive implies the directories on its path.

use thiserror::Error;

/// The most operations of logs and entries of directories and archives: each takes up to 300 bytes
/// of memory, as a file of an archive is four operations.
const MOST_OPERATIONS: usize = 1 << 22;

/// The most bytes of all paths and texts of links together; a tree of kernel sources has 4 MiB.
const MOST_NAME_BYTES: usize = 256 << 20;

/// The most names that a path in an archive may have.
const MOST_DEPTH: usize = 128;

/// What is too much.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Excess {
    /// Operations.
    #[error("more than {MOST_OPERATIONS} operations")]
    Operations,
    /// Bytes of names.
    #[error("more than {} MiB of names", MOST_NAME_BYTES >> 20)]
    NameBytes,
    /// Names in one path.
    #[error("a path of {found} names, where {MOST_DEPTH} is the most")]
    Depth {
        /// How many it has.
        found: usize,
    },
}

/// What operations and names may still come.
#[derive(Debug)]
pub struct Budget {
    operations: usize,
    name_bytes: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { operations: MOST_OPERATIONS, name_bytes: MOST_NAME_BYTES }
    }
}

impl Budget {
    /// One of so many operations and bytes of names.
    #[cfg(test)]
    pub fn of(operations: usize, name_bytes: usize) -> Self {
        Self { operations, name_bytes }
    }

    /// Takes one operation with names of so many bytes.
    pub fn take_operation(&mut self, name_bytes: usize) -> Result<(), Excess> {
        self.operations = self.operations.checked_sub(1).ok_or(Excess::Operations)?;
        self.take_names(name_bytes)
    }

    /// Takes so many bytes of names.
    pub fn take_names(&mut self, bytes: usize) -> Result<(), Excess> {
        self.name_bytes = self.name_bytes.checked_sub(bytes).ok_or(Excess::NameBytes)?;
        Ok(())
    }
}

/// Refuses a path of too many names.
pub fn check_depth(names: usize) -> Result<(), Excess> {
    if names > MOST_DEPTH { Err(Excess::Depth { found: names }) } else { Ok(()) }
}

#[cfg(test)]
mod tests;
