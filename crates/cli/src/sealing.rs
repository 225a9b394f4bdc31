//! How the earlier runs of a plan affect its claims.
//!
//! The first run with results seals them: later claims and changes are made knowing these. And each
//! run that leaves a claim open spends a part of its error budget.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use ssdlab_advice::{self as advice, Judgement, Verdict};
use ssdlab_plan::{LabKind, Schedule, shipped};
use ssdlab_results::{RunContents, RunFolder, TrialStatus};

/// The names of the claims that the first run of the plan does not have in this form, and that
/// run's name. Claims of a shipped plan were made without knowing the results kept here.
pub fn late(results: &Path, plan: &str, schedule: &Schedule) -> Option<(Vec<String>, String)> {
    if shipped::ALL.iter().any(|own| own.text == plan) {
        return None;
    }
    let (first, sealed) = earlier_runs(results, &schedule.plan).next()?;
    let sealed = sealed.schedule;
    let open = schedule.claims.iter().filter(|claim| claim.exploratory.is_none());
    let late = open.filter(|claim| !sealed.claims.iter().any(|own| claim.is_judged_as(own)));
    let late: Vec<String> = late.map(|claim| claim.id.clone()).collect();
    (!late.is_empty()).then_some((late, first))
}

/// The number of consecutive earlier runs that made the same measurements and left a claim open, by
/// its name. Others are passed over.
pub fn left_open(results: &Path, schedule: &Schedule) -> BTreeMap<String, u32> {
    let mut left_open = BTreeMap::new();
    let mut counted: Vec<Schedule> = Vec::new();
    for (_, earlier) in earlier_runs(results, &schedule.plan) {
        let RunContents { schedule: sealed, records, .. } = earlier;
        let is_repeat = counted.iter().chain([schedule]).any(|own| is_the_same_run(&sealed, own));
        if is_repeat || !sealed.measures_as(schedule) {
            continue;
        }
        let judged = advice::judge(&sealed, &records);
        for claim in &schedule.claims {
            let Some(own) = sealed.claims.iter().find(|own| claim.is_judged_as(own)) else {
                continue;
            };
            let is_tested = |one: &&Judgement| one.claim.id == own.id && one.outcome.p().is_some();
            let mut tested = judged.iter().filter(is_tested).peekable();
            if tested.peek().is_some() {
                let is_open = tested.any(|one| one.outcome.verdict() == Verdict::Undecided);
                let runs: &mut u32 = left_open.entry(claim.id.clone()).or_default();
                *runs = if is_open { *runs + 1 } else { 0 };
            }
        }
        counted.push(sealed);
    }
    left_open
}

/// Whether a run would only do again what an earlier one did: in virtual time it finds the same.
fn is_the_same_run(earlier: &Schedule, schedule: &Schedule) -> bool {
    schedule.is_in(LabKind::Virtual)
        && earlier.seed == schedule.seed
        && earlier.trials == schedule.trials
}

/// The earlier runs of a plan that have results, in order, with their names. Runs that cannot be
/// read are passed over.
fn earlier_runs(results: &Path, plan: &str) -> impl Iterator<Item = (String, RunContents)> {
    let entries = fs::read_dir(results).into_iter().flatten();
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    // Run names are the plan's name and the time.
    let is_of_plan = |name: &String| {
        let time = name.strip_prefix(plan).and_then(|rest| rest.strip_prefix('-'));
        time.is_some_and(|time| time.starts_with(|c: char| c.is_ascii_digit()))
    };
    let mut names: Vec<String> = names.filter(is_of_plan).collect();
    names.sort();
    names.into_iter().filter_map(move |name| {
        let contents = RunFolder::read(&results.join(&name)).ok()?;
        let has_results = contents.records.iter().any(|record| record.status == TrialStatus::Ok);
        (has_results && contents.schedule.plan == plan).then_some((name, contents))
    })
}
