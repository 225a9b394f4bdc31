//! Limits on the memory that files named by a plan may take, enforced before it is allocated.
//!
//! Such a file is untrusted: a few kilobytes can expand to any number of names, by compression, or
//! because each entry of an archive implies the directories on its path.

use thiserror::Error;

/// The maximum number of operations of logs and entries of directories and archives: each takes up
/// to 300 bytes of memory, because a file of an archive is four operations.
const MOST_OPERATIONS: usize = 1 << 22;

/// The maximum total size of all paths and link targets, in bytes; a tree of kernel sources has 4
/// MiB.
const MOST_NAME_BYTES: usize = 256 << 20;

/// The maximum depth of a path in an archive.
const MOST_DEPTH: usize = 128;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ExceededLimit {
    #[error("more than {MOST_OPERATIONS} operations")]
    Operations,
    #[error("more than {} MiB of names", MOST_NAME_BYTES >> 20)]
    NameBytes,
    /// Names in one path.
    #[error("a path of {found} names (the limit is {MOST_DEPTH})")]
    Depth {
        /// Its number of names.
        found: usize,
    },
}

/// The remaining budget of operations and names.
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
    /// A budget of this many operations and bytes of names.
    #[cfg(test)]
    pub fn of(operations: usize, name_bytes: usize) -> Self {
        Self { operations, name_bytes }
    }

    /// Takes one operation with this many bytes of names.
    pub fn take_operation(&mut self, name_bytes: usize) -> Result<(), ExceededLimit> {
        self.operations = self.operations.checked_sub(1).ok_or(ExceededLimit::Operations)?;
        self.take_names(name_bytes)
    }

    /// Takes this many bytes of names.
    pub fn take_names(&mut self, bytes: usize) -> Result<(), ExceededLimit> {
        self.name_bytes = self.name_bytes.checked_sub(bytes).ok_or(ExceededLimit::NameBytes)?;
        Ok(())
    }
}

/// Refuses a path of too many names.
pub fn check_depth(names: usize) -> Result<(), ExceededLimit> {
    if names > MOST_DEPTH { Err(ExceededLimit::Depth { found: names }) } else { Ok(()) }
}

#[cfg(test)]
mod tests;
