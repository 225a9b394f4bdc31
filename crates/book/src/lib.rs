//! The book of evidence: every published number that ssdlab knows, and what its models make of it.
//!
//! The numbers stay where they are: those of a drive in its file, those of a question in its plan.
//! What the models make of them is simulated where that takes seconds, and kept from a run of the
//! virtual lab where it takes minutes. Predictions that fail stay in the book.

mod drives;
mod figure;
mod kept;
mod plans;

use std::path::Path;

use ssdlab_flash::presets;
use ssdlab_plan::{self as plan, Overrides, Schedule, shipped};

pub use drives::DriveFigures;
pub use figure::{Amount, Figure};
pub use kept::{KEPT, Kept, KeptRun};
pub use plans::{Place, places};

/// The figures of the drives that come with the program, a drive at a time: each takes up to some
/// seconds to compute, and none waits for another.
pub fn drives() -> impl Iterator<Item = DriveFigures> {
    presets::ALL.into_iter().map(DriveFigures::of)
}

/// The schedules of the shipped plans, in whose order their figures are.
pub fn schedules() -> impl Iterator<Item = Schedule> {
    shipped::ALL.into_iter().map(|plan| {
        plan::schedule(plan.name, plan.text, &Overrides::default(), Path::new("/"))
            .expect("a test resolves every shipped plan")
    })
}

/// The figures of the shipped plans, beside what runs have made of them.
#[must_use]
pub fn of_plans(kept: &Kept) -> Vec<Figure> {
    schedules().flat_map(|schedule| plans::figures(&schedule, kept)).collect()
}

#[cfg(test)]
mod tests;
