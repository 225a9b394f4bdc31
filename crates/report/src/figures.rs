//! The book of evidence: every published number that ssdlab knows, and its models' number for it.
//!
//! The published numbers stay where they are: those about a drive in its file, those about a
//! question in its plan. The models' numbers are simulated on demand if that takes seconds, and
//! stored from a run of the virtual lab if it takes minutes. Failed predictions stay in the book.
//! Beside them are cross-checks of the virtual lab against the same drive in real time.

mod cross_check;
mod drives;
mod figure;
mod plans;

use std::path::Path;

use ssdlab_plan::{self as plan, Overrides, Schedule, shipped};

pub use cross_check::cross_checks;
pub use drives::{measured_by, of_drive};
pub use figure::{Agreement, Figure, FigureReference, PublishedAmount};
pub use plans::{FigurePlace, places};
pub use plans::{STORED_RESULTS, StoredResults, StoredRun};

/// The schedules of the shipped plans, in the order of their figures.
pub fn schedules() -> impl Iterator<Item = Schedule> {
    shipped::ALL.into_iter().map(|plan| {
        plan::schedule(plan.name, plan.text, &Overrides::default(), Path::new("/"))
            .expect("a test resolves every shipped plan")
    })
}

/// The figures of the shipped plans, compared with stored results.
pub fn of_plans(kept: &StoredResults) -> Vec<Figure> {
    schedules().flat_map(|schedule| plans::figures(&schedule, kept)).collect()
}

#[cfg(test)]
mod tests;
