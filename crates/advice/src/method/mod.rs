//! The method check: whether a run was done so that its numbers can be believed.
//!
//! It checks the same of every run. A problem is a [`super::Warning`] with its numbers, and reports
//! show these warnings, so there is one judgement of method, not two. What a run does not tell is
//! unknown, never right or wrong.

mod check;
mod preconditions;
mod repeats;
mod run;
mod sync;

use ssdlab_plan::{LabKind, Schedule};
use ssdlab_results::Record;

use self::run::ExaminedRun;
use super::judgement::Judgement;

pub use self::check::{Check, CheckOutcome, Criterion};

/// Every check of a run, in the order of the reports; `intervals` are those that reports show.
pub(super) fn checks(
    schedule: &Schedule,
    records: &[Record],
    claims: &[Judgement],
    intervals: &[[f64; 2]],
) -> Vec<Check> {
    let run = ExaminedRun::of(schedule, records);
    let mut checks = if schedule.is_in(LabKind::Live) {
        // What the machine does is uneven, drifts and has begun long before; the drawn order
        // answers for that.
        vec![
            sync::sync(&run),
            repeats::looks(&run),
            repeats::order(&run),
            preconditions::environment(&run),
        ]
    } else {
        vec![
            sync::sync(&run),
            repeats::repetitions(&run, claims, intervals),
            repeats::drift(&run),
            repeats::variance(&run),
            preconditions::background(&run),
            sync::working_set(&run),
            preconditions::starting_state(&run),
            repeats::order(&run),
            preconditions::environment(&run),
            preconditions::steady_state(&run),
        ]
    };
    if run.well.is_empty() {
        // Without successful trials no criterion is met.
        for check in checks.iter_mut().filter(|check| check.outcome == CheckOutcome::Met) {
            *check = Check::unknown(check.criterion, "no trial went well", "go on with the run");
        }
    }
    checks
}
