//! The metric of a plan that names none.
//!
//! It is the time, unless the plan itself decides how long a phase takes: by pauses between
//! operations, by a rate, or by a time after which the phase ends. What is measured then is how
//! long an operation makes a program wait, or how many are done in that time.

use super::io::IoEnd;
use super::measured::measures;
use super::metric::{self, Metric};
use super::schedule::{Action, Phase, Workload};

/// How long a phase takes, as far as the plan decides it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pace {
    /// As long as the work needs.
    Work,
    /// Its operations are apart from one another.
    Paced,
    /// Until a time is over.
    Timed,
}

fn pace(action: &Action) -> Pace {
    let (is_paced, is_timed) = match action {
        Action::Maildir(work) => (work.think_ns > 0, false),
        Action::Rotate(work) => (work.think_ns > 0, false),
        Action::Append(work) => (work.think_ns > 0, false),
        Action::Replace(work) => (work.think_ns > 0, false),
        Action::Database(work) => (work.think_ns > 0, false),
        Action::Transactions(work) => {
            let is_paced = work.think_ns > 0 || work.period_ns.is_some();
            (is_paced, matches!(work.end, IoEnd::Time(_)))
        }
        Action::Io(work) => (work.period_ns.is_some(), matches!(work.end, IoEnd::Time(_))),
        _ => (false, false),
    };
    match (is_paced, is_timed) {
        (true, _) => Pace::Paced,
        (_, true) => Pace::Timed,
        _ => Pace::Work,
    }
}

/// Whether a phase does anything but prepare for others or wait.
fn works(phase: &Phase) -> bool {
    let is_beside = matches!(
        phase.action,
        Action::Sync
            | Action::Fstrim
            | Action::Idle { .. }
            | Action::Remount
            | Action::Stretch { .. }
    );
    !is_beside
}

/// The metric of a plan with this workload that names none, and what to say of phases to which it
/// does not do justice.
pub(super) fn metric(workload: &Workload) -> (Metric, Option<String>) {
    let working: Vec<&Phase> = workload.phases.iter().filter(|phase| works(phase)).collect();
    let has = |pace: Pace| working.iter().any(|phase| self::pace(&phase.action) == pace);
    let usual = if has(Pace::Paced) {
        metric::of("latency.p99_ns")
    } else if has(Pace::Timed) {
        metric::of("ops_per_second")
    } else {
        return (Metric::default(), None);
    };
    if working.iter().all(|phase| measures(phase, usual)) {
        return (usual, None);
    }
    let planned = working.iter().filter(|phase| self::pace(&phase.action) != Pace::Work);
    let planned: Vec<&str> = planned.map(|phase| phase.name.as_str()).collect();
    let note = format!(
        "the plan itself decides how long it takes to {}, by pauses, a rate or a time: compare \
         another metric there, such as {usual}",
        planned.join(", ")
    );
    (Metric::default(), Some(note))
}

#[cfg(test)]
mod tests;
