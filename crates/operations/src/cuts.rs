//! What files must and may hold after a power cut.
//!
//! A workload writes [`contents`] that identify themselves, and reports each [`Deed`]: what
//! it begins, what is done, and what was promised to be durable. After a cut each file is [`Found`]
//! in some state, and from the [`History`] of the deeds before the cut follows a [`Verdict`]:
//! broken promises, damage, and lost work that was never promised to be kept.

pub mod contents;
pub mod database;
mod deed;
mod found;
mod history;
mod outcome;
pub mod sequence;

pub use deed::{Deed, Step, Subject, Subjects};
pub use found::{Fault, Found};
pub use history::{Expected, History, Verdict};
pub use outcome::{Checked, Data, Finding, Moment, Outcome, Recovery};
pub use sequence::{Sequence, Sync};
