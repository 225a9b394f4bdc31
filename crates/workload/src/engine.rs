//! Performs operations on files as fast as the kernel allows, and times each of them.
//!
//! It knows how to submit operations to the kernel and how to count completions; it must not know
//! filesystems, or what its numbers are for.

mod aligned;
mod counted;
mod error;
mod operations;
mod ring;
mod run;

pub use aligned::{Aligned, BLOCK_BYTES};
pub use counted::{EngineSeries, LONGEST_NS, MOST_STEPS, OperationTally};
pub use error::EngineError;
pub use operations::EngineOperationKind;
pub use run::{EngineJob, EngineOutcome, run};
