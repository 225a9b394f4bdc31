//! Which phases can have which metrics, and which labs can measure them.

use toml::Spanned;

use super::error::PlanFault;
use super::io::{IoSyncPolicy, SyncBy};
use super::lab_kind::LabKind;
use super::metric::{
    self, BONNIE_PREFIX, FIO_PREFIX, Metric, MetricRow, PHORONIX_HIGHER, PHORONIX_LOWER,
    READER_PREFIX, Source,
};
use super::schedule::{Action, Phase, Schedule};
use super::written::Plan;

/// Why a phase never has a metric, and what to do about it; none if it may have it. What programs
/// report is known only when they have run.
pub(super) fn lacks(phase: &Phase, metric: Metric) -> Option<(String, &'static str)> {
    let name = metric.name;
    let Phase { name: own, action, reader, .. } = phase;
    if name.starts_with(READER_PREFIX) {
        let help = "add reader = true to the phase";
        return (!reader).then(|| (format!("nothing reads beside `{own}`"), help));
    }
    let is_program = matches!(action, Action::Command { .. } | Action::Imported);
    if [PHORONIX_HIGHER, PHORONIX_LOWER].contains(&metric) {
        let lacks = !matches!(action, Action::Imported);
        return lacks.then(|| (format!("`{own}` is no imported test"), "name another metric"));
    }
    if name.starts_with(FIO_PREFIX) {
        let lacks = !is_program && !matches!(action, Action::Fio { .. });
        let help = "name a phase with do = \"fio\"";
        return lacks.then(|| (format!("`{own}` does not run fio"), help));
    }
    if is_program || name.starts_with(BONNIE_PREFIX) {
        return None;
    }
    let (kind, help) = match metric.source {
        source if source.is_of_operations() && !may_count_operations(action) => {
            ("operations that are counted", "claim time_ns, or name a phase with do = \"io\"")
        }
        Source::Reported if !reports(phase, name) => match name.split('.').next() {
            Some("read") => ("reads", "give it `reads`, in a phase with do = \"io\""),
            Some("write") => ("writes", "give it writes, in a phase with do = \"io\""),
            Some("sync") => ("syncs that are timed", "give it `sync`, with do = \"io\""),
            Some("beside") => ("writer beside it", "give it `beside`, with do = \"transactions\""),
            Some("device" | "pressure" | "dirtied_bytes") => {
                ("stretch of the machine's time", "run it in the live lab, without a workload")
            }
            _ => return None,
        },
        _ => return None,
    };
    Some((format!("`{own}` has no {kind}"), help))
}

/// Whether a phase may have a metric: it does what is counted, or runs what reports it.
pub(super) fn measures(phase: &Phase, metric: Metric) -> bool {
    let is_imported = matches!(phase.action, Action::Imported);
    is_imported
        || match metric.source {
            source if source.is_of_operations() => counts_operations(&phase.action),
            Source::YearsUntilWorn | Source::YearsByBytes => phase.a_day.is_some(),
            Source::Cuts(_) => false,
            Source::Reported => reports(phase, metric.name),
            _ => true,
        }
}

/// Whether an action counts and times its own operations.
const fn counts_operations(action: &Action) -> bool {
    matches!(
        action,
        Action::Read { .. }
            | Action::Bonnie { .. }
            | Action::Io(_)
            | Action::Transactions(_)
            | Action::Replace(_)
            | Action::Append(_)
            | Action::Database(_)
            | Action::Sequences(_)
            | Action::Maildir(_)
            | Action::Rotate(_)
    )
}

/// The same, or runs what may: what that did is known afterwards.
const fn may_count_operations(action: &Action) -> bool {
    counts_operations(action) || matches!(action, Action::Fio { .. } | Action::Replay { .. })
}

/// Whether a phase reports a metric by its name.
fn reports(phase: &Phase, name: &str) -> bool {
    let kind = name.split_once('.').map_or(name, |(kind, _)| kind);
    match (kind, &phase.action) {
        ("reader", _) => phase.reader,
        ("read", Action::Io(io)) => io.read_share > 0.0,
        ("write", Action::Io(io)) => io.read_share < 1.0,
        ("sync", Action::Io(io)) => io.sync != IoSyncPolicy::Never && io.sync_by != SyncBy::ODsync,
        ("sync", Action::Transactions(_)) => true,
        ("beside", Action::Transactions(work)) => work.beside_bytes_per_second.is_some(),
        ("fio", action) => matches!(action, Action::Fio { .. }),
        ("device" | "pressure" | "dirtied_bytes", action) => action.is_stretch(),
        _ => false,
    }
}

/// Refuses a metric of a plan that none of its phases has.
pub(super) fn check_metrics(plan: &Plan, schedule: &Schedule) -> Result<(), PlanFault> {
    let several = plan.metrics.iter().flat_map(Spanned::get_ref);
    plan.metric.iter().chain(several).try_for_each(|written| check_metric(written, schedule))
}

fn check_metric(written: &Spanned<String>, schedule: &Schedule) -> Result<(), PlanFault> {
    let name = written.get_ref();
    let mut first = None;
    for phase in &schedule.workload.phases {
        let Some(lack) = lacks(phase, metric::of(name)) else { return Ok(()) };
        first.get_or_insert(lack);
    }
    match first {
        None => Ok(()),
        Some((why, help)) => {
            Err(PlanFault::at(written.span(), format!("no phase has `{name}`: {why}"), help))
        }
    }
}

impl Schedule {
    /// What the lab cannot measure of what the plan asks for: its metrics, and those of its claims.
    pub fn beyond_lab(&self) -> Vec<String> {
        let Some(lab) = self.target.as_ref().map(super::Target::lab) else { return Vec::new() };
        let is_lacking = |metric: Metric| metric.labs_that_lack_it().contains(&lab);
        let of_plan = self.metrics().filter(|metric| is_lacking(*metric));
        let lacking = self
            .claims
            .iter()
            .filter(|claim| is_lacking(claim.metric) && !claim.not_testable.contains_key(&lab));
        let claims = lacking.map(|claim| (format!("claim `{}`", claim.id), claim.metric));
        of_plan
            .map(|metric| ("the plan".to_owned(), metric))
            .chain(claims)
            .map(|(who, metric)| {
                format!("{who} is about `{metric}`, which the {lab} lab cannot measure")
            })
            .collect()
    }

    /// Whether who causes writes is to be recorded, which makes small files some 10 to 35 % slower
    /// where the processor is the limit: if the plan asks for it, or for bytes and for no time.
    pub fn asks_for_causes(&self) -> bool {
        let all = self.metrics().chain(self.claims.iter().map(|claim| claim.metric));
        let (mut is_asked, mut is_timed) = (false, false);
        for metric in all {
            is_asked |= matches!(metric.source, Source::Caused(_));
            is_timed |= metric.is_of_the_drive();
        }
        is_asked || !is_timed
    }
}

impl MetricRow {
    /// The labs in which no trial has it.
    fn labs_that_lack_it(&self) -> &'static [LabKind] {
        match self.source {
            Source::KernelThreads
            | Source::Interrupts
            | Source::FlashWrittenBytes
            | Source::FlashReadBytes
            | Source::Erases
            | Source::Stalled
            | Source::HottestErases
            | Source::RepeatsUntilWorn
            | Source::YearsUntilWorn
            | Source::YearsByBytes
            | Source::WriteAmplification
            | Source::Cuts(_) => {
                &[LabKind::Image, LabKind::Device, LabKind::Directory, LabKind::Live]
            }
            Source::Written(_) => &[LabKind::Directory, LabKind::Live],
            Source::Caused(_) => &[LabKind::Virtual, LabKind::Live],
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests;
