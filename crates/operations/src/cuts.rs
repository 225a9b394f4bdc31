//! What files must and may hold after a power cut.
//!
//! A workload writes [`contents`] that identify themselves, and reports each [`FileOperation`]:
//! what it begins, what is done, and what was promised to be durable. After a cut each file is
//! [`FileState`] in some state, and from the [`FileHistory`] of the file operations before the cut
//! follows a [`CutVerdict`]: broken promises, damage, and lost work that was never promised to be
//! kept.

pub mod contents;
pub mod database;
mod file_operation;
mod file_state;
mod history;
mod outcome;
pub mod sequence;

pub use file_operation::{FileOperation, FileOperationStep, WatchedFile, WatchedFiles};
pub use file_state::{Damage, FileState};
pub use history::{CutVerdict, ExpectedVersions, FileHistory};
pub use outcome::{CutMoment, CutOutcome, DataVerdict, Finding, FsckResult, Recovery};
pub use sequence::{Sequence, Sync};
