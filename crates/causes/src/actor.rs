//! The thread in which an event happened, as far as its causes are known from outside its
//! filesystem.

use std::ops::Range;

use crate::shares::CauseShares;
use crate::tasks::Causer;

/// Ranges of a file, in bytes, and who is behind each.
pub type FileParts = Vec<(Range<u64>, CauseShares)>;

/// Who does something.
#[derive(Debug, Clone)]
pub struct Actor {
    pub thread: u32,
    pub causer: Causer,
    /// Whether it is the kernel's: then somebody else is behind what it does.
    pub is_kernel: bool,
    /// Whether it is inside sync(2) or syncfs(2), where it does others' work.
    pub is_syncing: bool,
    /// Whether it is a journal's thread.
    pub is_journal: bool,
    /// For a file behind a loop device: who is behind each range of the file, in bytes, that the
    /// event changes, by the marks of the loop device.
    pub above: FileParts,
}

impl Actor {
    /// The actor itself, unless it works for somebody unknown.
    pub fn own(&self) -> CauseShares {
        if self.is_kernel || self.is_syncing {
            CauseShares::default()
        } else {
            CauseShares::all(self.causer)
        }
    }

    /// Who changes a range of a file, in bytes: by parts of it.
    pub fn changes(&self, range: Range<u64>) -> FileParts {
        if self.above.is_empty() {
            return vec![(range, CauseShares::all(self.causer))];
        }
        self.above.clone()
    }
}
