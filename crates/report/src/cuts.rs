//! The results of power cuts for each treatment.

use ssdlab_advice::{Analysis, CutsResult, Example, Proportion, Quantiles, TreatmentResult};
use ssdlab_operations::cuts::Damage;
use ssdlab_plan::Schedule;
use ssdlab_plan::metric::Metric;
use ssdlab_plan::schedule::Action;
use ssdlab_quantity::listed;

use super::grid::ReportTable;
use super::levels::label;
use super::number;
use super::table::mean;
use super::words::argument;

/// The table's heading.
pub(super) const HEADING: &str = "After power cuts: how many cuts did what (95 %), what was lost \
                                  at random moments (median / 99 % / worst), and the cost";

/// A treatment with power cuts, and what they did.
struct Row<'a> {
    name: String,
    treatment: &'a TreatmentResult,
    cuts: &'a CutsResult,
}

impl<'a> Row<'a> {
    fn of(name: String, treatment: &'a TreatmentResult) -> Option<Self> {
        Some(Self { name, treatment, cuts: treatment.cuts.as_ref()? })
    }
}

/// A row for each treatment with power cuts; `None` if there were none. The plan's own check has a
/// column if the plan has one, and so has the plan's metric if it was measured.
pub(super) fn table(schedule: &Schedule, analysis: &Analysis) -> Option<ReportTable> {
    let cut = analysis
        .treatments
        .iter()
        .filter_map(|treatment| Row::of(label(schedule, &treatment.levels), treatment));
    of(analysis, cut.collect())
}

fn of(analysis: &Analysis, cut: Vec<Row<'_>>) -> Option<ReportTable> {
    let metric = analysis.metric;
    let has_check = cut.iter().any(|row| row.cuts.rejected.is_some());
    let has_cost = cut.iter().any(|row| cost(metric, row.treatment).is_some());
    let shown = |columns: [String; 12]| -> Vec<String> {
        let is_shown = |at: usize| match at {
            REJECTED => has_check,
            COST => has_cost,
            _ => true,
        };
        let all = columns.into_iter().enumerate();
        all.filter(|(at, _)| is_shown(*at)).map(|(_, column)| column).collect()
    };
    let header = [
        "",
        "cuts",
        "broken promises",
        "damaged",
        "unmountable",
        "check fails",
        "data rejected",
        "time lost",
        metric.name,
        "check before",
        "bytes lost",
        "time to mount",
    ];
    let header = shown(header.map(str::to_owned));
    let rows: Vec<Vec<String>> = cut.into_iter().map(|row| shown(cells(metric, row))).collect();
    (!rows.is_empty()).then_some(ReportTable { header, rows, numbers: 1 })
}

/// The maximum number of treatments whose losses are told in a sentence.
const MOST_TOLD: usize = 4;

/// What power cuts cost each treatment, as a clause; `None` if there were no cuts.
pub(super) fn losses(schedule: &Schedule, analysis: &Analysis) -> Option<String> {
    let cut = analysis.treatments.iter().filter_map(|treatment| {
        let name = label(schedule, &treatment.levels);
        let with = if name.is_empty() { name } else { format!(" with {name}") };
        Some(format!("{}{with}", lost(schedule, treatment.cuts.as_ref()?)))
    });
    let cut: Vec<String> = cut.collect();
    let more = cut.len().saturating_sub(MOST_TOLD);
    let more = if more > 0 { format!("; and so on for {more} more") } else { String::new() };
    let told = cut.iter().take(MOST_TOLD).cloned().collect::<Vec<_>>().join("; ");
    (!cut.is_empty()).then(|| format!("{told}{more}"))
}

/// The worst of what the cuts of a treatment did, and what was lost.
fn lost(schedule: &Schedule, cuts: &CutsResult) -> String {
    let faults: Vec<String> =
        cuts.damage.keys().map(|fault| damaged(schedule, *fault).to_owned()).collect();
    let found = [
        (cuts.broken_promises, "lost something synced".to_owned()),
        (Some(cuts.unmountable), "left a filesystem that cannot be mounted".to_owned()),
        (cuts.rejected, "left data that the plan's check rejects".to_owned()),
        (cuts.damaged, format!("left {}", listed(&faults))),
        (cuts.amiss, "left errors that the filesystem's check reports".to_owned()),
    ];
    let some = found.into_iter().filter_map(|(of, what)| {
        let Proportion { count, of, .. } = of.filter(|of| of.count > 0)?;
        Some(format!("{count} of {of} power cuts {what}"))
    });
    let mut parts: Vec<String> = some.collect();
    if parts.is_empty() {
        parts.push(format!("none of {} damaged anything", counted_cuts(cuts.number)));
    }
    if let Some(lost) = cuts.lost_ns.filter(|lost| lost.max > 0) {
        let [median, most] = [lost.p50, lost.max].map(|ns| number::duration(ns as f64));
        parts.push(format!("the last {median} of work were lost in the median, at most {most}"));
    }
    listed(&parts)
}

fn counted_cuts(number: u64) -> String {
    format!("{number} power cut{}", if number == 1 { "" } else { "s" })
}

/// Files with a fault, by what the plan's phases write.
fn damaged(schedule: &Schedule, fault: Damage) -> &'static str {
    let phases = schedule.workload.phases.iter().filter(|phase| phase.action.has_history());
    let actions: Vec<&Action> = phases.map(|phase| &phase.action).collect();
    let are_logs = actions.iter().all(|action| matches!(action, Action::Append(_)));
    let are_databases = actions.iter().all(|action| matches!(action, Action::Database(_)));
    match fault {
        Damage::Torn if are_logs => "logs that end in part of a record",
        Damage::Zeros if are_logs => "logs that end in zeros",
        Damage::Garbage if are_logs => "logs that end in garbage",
        Damage::Torn if are_databases => "torn pages in databases",
        Damage::Zeros if are_databases => "zeros in databases",
        Damage::Garbage if are_databases => "garbage in databases",
        Damage::Missing => "no file where there was one",
        Damage::Unreadable => "unreadable files",
        Damage::Empty => "empty files",
        Damage::Torn => "torn files",
        Damage::Zeros => "files with zeros",
        Damage::Garbage => "files with garbage",
    }
}

/// The mean of a metric over the trials of a treatment, all phases together; `None` if it was not
/// measured in each of them, or cannot be taken together.
fn cost(metric: Metric, treatment: &TreatmentResult) -> Option<f64> {
    let phases = treatment.summary.iter();
    let means: Option<Vec<f64>> =
        phases.map(|phase| mean(treatment, &phase.name, metric)).collect();
    metric.taken_together(&means?)
}

/// The places among the columns of what the plan's own check says, and of the plan's metric.
const REJECTED: usize = 6;
const COST: usize = 8;

/// The heading of [`reproducers`].
pub(super) const REPRODUCERS: &str = "To repeat one finding of each treatment:";

/// The treatments with a finding, each with the command that repeats that cut.
pub(super) fn reproducers(schedule: &Schedule, analysis: &Analysis) -> Vec<(String, String)> {
    let run = argument(analysis);
    let of = |treatment: &TreatmentResult| {
        let Example { trial, cut, survivor } = treatment.cuts.as_ref()?.example?;
        let command = format!("ssdlab cut {run} --trial {trial} --cut {cut} --survivor {survivor}");
        Some((label(schedule, &treatment.levels), command))
    };
    analysis.treatments.iter().filter_map(of).collect()
}

fn cells(metric: Metric, Row { name, treatment, cuts }: Row<'_>) -> [String; 12] {
    let is_never_mounted = cuts.unmountable.count == cuts.unmountable.of;
    let unjudged = if is_never_mounted { "not mounted" } else { "not judged" };
    let faults = cuts.damage.iter().map(|(fault, cuts)| format!("\n{fault}: {cuts}"));
    let faults: String = faults.collect();
    let states = cuts.states.map(|states| format!("\n{} states", number::count(states as f64)));
    [
        name,
        number::count(cuts.number as f64) + &states.unwrap_or_default(),
        proportion(cuts.broken_promises, unjudged),
        proportion(cuts.damaged, unjudged) + &faults,
        proportion(Some(cuts.unmountable), ""),
        proportion(cuts.amiss, "not checked"),
        proportion(cuts.rejected, unjudged),
        quantiles(cuts.lost_ns, number::duration),
        cost(metric, treatment).map_or_else(String::new, |mean| number::value(metric, mean)),
        proportion(cuts.amiss_before, "not checked"),
        quantiles(cuts.lost_bytes, number::bytes),
        quantiles(cuts.recovery_ns, number::duration),
    ]
}

/// A proportion with its interval; if nothing was seen, its upper bound, as that is not never. The
/// words for `None` are `without`.
pub(super) fn proportion(of: Option<Proportion>, without: &str) -> String {
    let Some(of) = of else { return without.to_owned() };
    let [lo, hi] = of.interval.map(|share| format!("{:.2}", share * 100.0));
    if of.count == 0 {
        return format!("less than {hi} %");
    }
    let share = of.count as f64 / of.of as f64 * 100.0;
    format!("{share:.1} %\n{lo} to {hi} %")
}

pub(super) fn quantiles(of: Option<Quantiles>, shown: fn(f64) -> String) -> String {
    of.map_or_else(String::new, |of| {
        [of.p50, of.p99, of.max].map(|value| shown(value as f64)).join("\n")
    })
}

#[cfg(test)]
mod tests;
