//! The method check: whether a run was done so that its numbers can be believed.
//!
//! It asks the same of every run. What is amiss is a [`super::Warning`] with its numbers, and these
//! are the warnings that reports show; so there is one judgement of method, not two. What a run
//! does not tell is never taken for right or wrong.

mod check;
mod ground;
mod repeats;
mod run;
mod sync;

use ssdlab_plan::Schedule;
use ssdlab_results::Record;

use self::run::ExaminedRun;
use super::case::Judgement;

pub use self::check::{Check, CheckOutcome, Criterion};

/// Every check of a run, in the order reports show them; `intervals` are those that they show.
pub(super) fn checks(
    schedule: &Schedule,
    records: &[Record],
    claims: &[Judgement],
    intervals: &[[f64; 2]],
) -> Vec<Check> {
    let run = ExaminedRun::of(schedule, records);
    let mut checks = vec![
        sync::sync(&run),
        repeats::repetitions(&run, claims, intervals),
        repeats::drift(&run),
        repeats::variance(&run),
        ground::background(&run),
        sync::working_set(&run),
        ground::starting_state(&run),
        repeats::order(&run),
        ground::environment(&run),
        ground::steady_state(&run),
    ];
    if run.well.is_empty() {
        // Nothing has been done right that has not been done.
        for check in checks.iter_mut().filter(|check| check.outcome == CheckOutcome::Met) {
            *check = Check::unknown(check.criterion, "no trial went well", "go on with the run");
        }
    }
    checks
}
