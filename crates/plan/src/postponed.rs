//! After which phases a run waits for discards that a filesystem postpones.
//!
//! Every treatment waits equally long: what else a filesystem does meanwhile is then on both sides
//! of a comparison. Where nothing that the plan asks for depends on discards nobody waits; in real
//! time that would be half a minute or more in each trial.

use std::time::Duration;

use super::Schedule;
use super::schedule::Phase;
use super::setup::Setup;

/// Discards come at most this much later than their filesystem's timer ends.
const SLACK: Duration = Duration::from_secs(1);

/// Enters how long phases are followed.
pub(super) fn wait(schedule: &mut Schedule) {
    let longest = schedule.setups().map(Setup::postpones).max().unwrap_or_default();
    if longest.is_zero() {
        return;
    }
    let ns = u64::try_from((longest + SLACK).as_nanos()).unwrap_or(u64::MAX);
    let phases = &schedule.workload.phases;
    let is_asked = |index: usize| {
        let is_last = |of: &[String]| phases.iter().rposition(|phase| of.contains(&phase.name));
        schedule.metrics().any(|metric| metric.shows_discards())
            || schedule
                .claims
                .iter()
                .any(|claim| claim.metric.shows_discards() && is_last(&claim.phases) == Some(index))
    };
    // A plan that waits in a phase of its own asks for what comes then separately.
    let waits = |phase: &Phase| phase.idle().is_some_and(|idle| idle >= longest);
    let followed: Vec<bool> = (0..phases.len())
        .map(|index| {
            let is_waited_for = phases.get(index + 1).is_some_and(waits) || waits(&phases[index]);
            phases[index].settles() && !is_waited_for && is_asked(index)
        })
        .collect();
    for (phase, is_followed) in schedule.0.workload.phases.iter_mut().zip(followed) {
        phase.postponed_ns = if is_followed { ns } else { 0 };
    }
}

#[cfg(test)]
mod tests;
