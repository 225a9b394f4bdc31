//! Differences between runs besides measurements: machines, programs, drives, settings, plans.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_plan::{Bytes, Factor, LabKind};

use super::candidate::Candidate;

/// The maximum number of values of one thing that are listed.
const MOST_VALUES: usize = 3;

/// A thing that is not the same in all runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Difference {
    /// What: the name in records, schedules or plans.
    pub what: String,
    /// Its value in each run; absent where a run has none.
    pub values: Vec<Option<String>>,
}

/// Everything that differs; `shared` are the compared treatments, by their indices in each run.
pub(super) fn differences(
    candidates: &[Candidate],
    shared: &[Vec<Option<usize>>],
    of_run: &BTreeSet<Factor>,
) -> Vec<Difference> {
    let mut found = of_schedules(candidates);
    for factor in of_run {
        let level = |candidate: &Candidate| {
            candidate.schedule.treatments.first()?.levels.0.get(factor).cloned()
        };
        found.push((factor.name().to_owned(), candidates.iter().map(level).collect()));
    }
    found.extend(of_records(candidates, shared));
    let differs = |values: &[Option<String>]| values.iter().any(|value| *value != values[0]);
    found.retain(|(_, values)| differs(values));
    // What was applied for a level follows from it: `applied drive_identity` from `drive`.
    let levels: Vec<String> = found.iter().map(|(what, _)| format!("applied {what}")).collect();
    let follows = |what: &str| {
        let rest = |level: &String| what.strip_prefix(level.as_str());
        levels.iter().filter_map(rest).any(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    found
        .into_iter()
        .filter(|(what, _)| !follows(what))
        .map(|(what, values)| Difference { what, values })
        .collect()
}

fn quiet(run: &Candidate) -> String {
    let quiet = Duration::from_nanos(run.schedule.workload.quiet_ns);
    humantime::format_duration(quiet).to_string()
}

/// The place that a run names as its target, if it is in one of these labs.
fn place(run: &Candidate, labs: &[LabKind]) -> Option<String> {
    let target = run.schedule.target.as_ref().filter(|target| labs.contains(&target.lab()))?;
    Some(target.place()?.display().to_string())
}

/// The size that a run gives its devices, if it is in this lab.
fn size(run: &Candidate, lab: LabKind) -> Option<String> {
    let target = run.schedule.target.as_ref().filter(|target| target.lab() == lab)?;
    Some(Bytes(target.size_bytes()?).to_string())
}

type Named = (String, Vec<Option<String>>);

/// What the schedules say about a run as a whole.
fn of_schedules(candidates: &[Candidate]) -> Vec<Named> {
    type Get = fn(&Candidate) -> Option<String>;
    let rows: [(&str, Get); 9] = [
        ("plan", |run| Some(run.schedule.plan.clone())),
        ("schedule schema", |run| Some(run.schedule.schema.to_string())),
        ("lab", |run| Some(run.schedule.origin().to_string())),
        ("device", |run| place(run, &[LabKind::Device])),
        ("directory", |run| place(run, &[LabKind::Image, LabKind::Directory, LabKind::Live])),
        ("capacity", |run| size(run, LabKind::Virtual)),
        ("image size", |run| size(run, LabKind::Image)),
        ("wait for quiet", |run| Some(quiet(run))),
        ("seed", |run| Some(run.schedule.seed.to_string())),
    ];
    rows.into_iter()
        .map(|(what, get)| (what.to_owned(), candidates.iter().map(get).collect()))
        .collect()
}

/// What the trials' records say about the compared treatments. A thing differs if it does for any
/// of them.
fn of_records(candidates: &[Candidate], shared: &[Vec<Option<usize>>]) -> Vec<Named> {
    // `None` if no trial of it succeeded.
    let of = |run: usize, places: &[Option<usize>]| {
        let facts = &candidates[run].facts[places[run]?];
        (!facts.is_empty()).then_some(facts)
    };
    let runs = 0..candidates.len();
    let mut names: BTreeSet<&String> = BTreeSet::new();
    for places in shared {
        names.extend(runs.clone().filter_map(|run| of(run, places)).flat_map(BTreeMap::keys));
    }
    let differs = |name: &&String| {
        shared.iter().any(|places| {
            let Some(first) = of(0, places) else { return false };
            let mut others = runs.clone().filter_map(|run| of(run, places));
            others.any(|own| own.get(*name) != first.get(*name))
        })
    };
    let told = |name: &String, run: usize| {
        let all = shared.iter().filter_map(|places| of(run, places)?.get(name));
        let all: BTreeSet<&String> = all.flatten().collect();
        let mut told: Vec<&str> =
            all.iter().take(MOST_VALUES).map(|value| value.as_str()).collect();
        let more = format!("{} more", all.len().saturating_sub(MOST_VALUES));
        told.extend((all.len() > MOST_VALUES).then_some(more.as_str()));
        (!told.is_empty()).then(|| told.join("; "))
    };
    let row =
        |name: &String| (name.clone(), runs.clone().map(|run| told(name, run)).collect::<Vec<_>>());
    names.into_iter().filter(differs).map(row).collect()
}
