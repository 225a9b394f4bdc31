//! What files must and may hold after a power cut.
//!
//! A workload writes [contents](contents) that say whose they are, and tells of each [`Deed`]: what
//! it begins, has done, and was promised to be durable. After a cut each file is [`Found`] in some
//! state, and the [`History`] of the deeds before the cut says what of it breaks a promise, what
//! is damage, and what is work lost that nobody had promised to keep: a [`Verdict`].

pub mod contents;
mod deed;
mod found;
mod history;
mod outcome;

pub use deed::{Deed, Step, Subject, Subjects};
pub use found::{Fault, Found};
pub use history::{History, Verdict};
pub use outcome::{Moment, Outcome, Recovery};
