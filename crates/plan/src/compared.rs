//! Claims that compare two phases of each trial: what they may compare.
//!
//! The pair is made by one trial: both phases share drive, filesystem, seed and machine, so that
//! only the order in which the phases run can favour one of them.

use ssdlab_quantity::did_you_mean;
use toml::Spanned;

use super::error::PlanFault;
use super::factor::Factor;
use super::io::{IoSyncPolicy, SyncBy};
use super::measured::measures;
use super::metric::{Metric, Unit};
use super::schedule::{Action, Schedule};
use super::setup::FSTRIM;
use super::varied::{LevelOrigin, VariedFactor};
use super::written::{Bound, WrittenClaim};

/// The phases that a claim compares; `None` if it compares treatments only.
pub(super) fn phases(
    written: &WrittenClaim,
    metric: Metric,
    schedule: &Schedule,
    factors: &[VariedFactor],
) -> Result<Option<[String; 2]>, PlanFault> {
    let id = &written.id;
    let own = written.compare.phase.as_ref();
    let other = written.against.as_ref().and_then(|side| side.phase.as_ref());
    let (own, other) = match (own, other) {
        (None, None) => return Ok(None),
        (Some(own), Some(other)) => (own, other),
        (Some(one), None) | (None, Some(one)) => {
            let (has, lacks) =
                if other.is_none() { ("compare", "against") } else { ("against", "compare") };
            let word = one.get_ref();
            let mut names = schedule.phase_names();
            names.retain(|name| name != word);
            let example = names.first().map_or("...", String::as_str);
            return Err(PlanFault::at(
                one.span(),
                format!("claim `{id}`: `{has}` names a phase and `{lacks}` does not"),
                format!(
                    "name the other phase, for example {lacks} = {{ phase = \"{example}\" }}; if \
                     treatments are compared in `{word}`, write phases = [\"{word}\"]"
                ),
            ));
        }
    };
    if !written.phases.is_empty() {
        return Err(PlanFault::at(
            own.span(),
            format!("claim `{id}` has `phases`, and compares phases"),
            "omit `phases`: `compare` and `against` say which phases it is about",
        ));
    }
    if own.get_ref() == other.get_ref() {
        let word = own.get_ref();
        return Err(PlanFault::at(
            other.span(),
            format!("claim `{id}` compares phase `{word}` with itself"),
            format!("name another phase; to compare treatments, write phases = [\"{word}\"]"),
        ));
    }
    if metric.is_of_cuts() {
        return Err(PlanFault::at(
            own.span(),
            format!("claim `{id}`: `{metric}` is about power cuts, which compare treatments"),
            "name one phase in `phases`, and the levels of two treatments in `compare` and \
             `against`",
        ));
    }
    if [&written.at_least, &written.at_most].into_iter().flatten().any(is_amount) {
        return Err(PlanFault::at(
            own.span(),
            format!("claim `{id}`: an amount is compared with nothing"),
            format!(
                "write phases = [\"{}\"] for the amount, or bound the ratio of the phases: \
                 at_least = 1.1",
                own.get_ref()
            ),
        ));
    }
    for phase in [own, other] {
        check(id, phase, metric, schedule, factors)?;
    }
    if metric.source.is_of_operations()
        && metric.unit == Unit::Ns
        && leaves_out_syncs(own, schedule) != leaves_out_syncs(other, schedule)
    {
        return Err(PlanFault::at(
            own.span(),
            format!(
                "claim `{id}`: what `{metric}` times in `{}` is not what it times in `{}`",
                own.get_ref(),
                other.get_ref()
            ),
            "the time of a write of `io` leaves out the sync after it, unless it has sync_by = \
             \"O_DSYNC\"; that of `append` or `transactions` has it: compare ops_per_second",
        ));
    }
    Ok(Some([own, other].map(|phase| phase.get_ref().clone())))
}

/// Whether writes of a phase are synced by a call of its own, which their times leave out.
fn leaves_out_syncs(phase: &Spanned<String>, schedule: &Schedule) -> bool {
    let mut planned = schedule.workload.phases.iter();
    planned.any(|planned| {
        planned.name == *phase.get_ref()
            && matches!(&planned.action, Action::Io(io) if io.read_share < 1.0
                && io.sync != IoSyncPolicy::Never
                && io.sync_by != SyncBy::ODsync)
    })
}

const fn is_amount(bound: &Bound) -> bool {
    matches!(bound, Bound::Amount(_))
}

/// Refuses a phase that the workload lacks, or that does not measure the metric.
fn check(
    id: &str,
    phase: &Spanned<String>,
    metric: Metric,
    schedule: &Schedule,
    factors: &[VariedFactor],
) -> Result<(), PlanFault> {
    let word = phase.get_ref();
    let known = schedule.phase_names();
    if is_unknown(word, &known, factors) {
        let meant = did_you_mean(word, known.iter().map(String::as_str));
        return Err(PlanFault::at(
            phase.span(),
            format!("claim `{id}`: there is no phase `{word}`"),
            format!("{meant}phases: {}", known.join(", ")),
        ));
    }
    let mut planned = schedule.workload.phases.iter();
    if planned.any(|planned| planned.name == *word && !measures(planned, metric)) {
        return Err(PlanFault::at(
            phase.span(),
            format!("claim `{id}`: phase `{word}` does not measure `{metric}`"),
            "name a metric that both phases have: `ssdlab list metrics` lists them",
        ));
    }
    Ok(())
}

/// `fstrim` exists only where a treatment asks for it; the command line may have dropped it.
pub(super) fn is_unknown(phase: &str, known: &[String], factors: &[VariedFactor]) -> bool {
    let is_dropped = phase == FSTRIM
        && factors.iter().any(|varied| {
            varied.factor == Factor::Discard && varied.origin == LevelOrigin::Elsewhere
        });
    !is_dropped && !known.iter().any(|name| name == phase)
}

#[cfg(test)]
mod tests;
