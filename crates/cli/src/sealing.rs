//! How the earlier runs of a plan affect its claims.
//!
//! The first run with results seals them: later claims and changes are made knowing these. And each
//! run that leaves a claim open spends a part of its error budget.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use ssdlab_advice::{self as advice, Verdict};
use ssdlab_plan::schedule::Claim;
use ssdlab_plan::{LabKind, Schedule, shipped};
use ssdlab_results::{Record, RunContents, RunFolder, TrialStatus};

/// The names of the claims that the first run of the plan does not have in this form, and that
/// run's name. Claims of a shipped plan were made without knowing the results kept here.
pub fn late(results: &Path, plan: &str, schedule: &Schedule) -> Option<(Vec<String>, String)> {
    if shipped::all().any(|own| own.text == plan) {
        return None;
    }
    let (first, sealed) = names_of_runs(results, &schedule.plan).into_iter().find_map(|name| {
        let sealed = with_results(results, &name)?.schedule;
        (sealed.plan == schedule.plan).then_some((name, sealed))
    })?;
    let open = schedule.claims.iter().filter(|claim| claim.exploratory.is_none());
    let late = open.filter(|claim| !sealed.claims.iter().any(|own| claim.is_judged_as(own)));
    let late: Vec<String> = late.map(|claim| claim.id.clone()).collect();
    (!late.is_empty()).then_some((late, first))
}

/// The number of consecutive earlier runs that made the same measurements and left a claim open, by
/// its name. Others are passed over; of runs that only did the same again the first counts.
pub fn left_open(results: &Path, schedule: &Schedule) -> BTreeMap<String, u32> {
    let sealed = |name: String| {
        let sealed = RunFolder::schedule(&results.join(&name)).ok()?;
        let counts = sealed.plan == schedule.plan
            && sealed.measures_as(schedule)
            && !is_the_same_run(&sealed, schedule);
        counts.then_some((name, sealed))
    };
    let runs: Vec<(String, Schedule)> =
        names_of_runs(results, &schedule.plan).into_iter().filter_map(sealed).collect();
    let tested = |(index, (name, sealed)): (usize, &(String, Schedule))| {
        let records = with_results(results, name)?.records;
        let is_first = |(name, own): &(String, Schedule)| {
            is_the_same_run(sealed, own) && with_results(results, name).is_some()
        };
        (!runs[..index].iter().any(is_first)).then(|| tested_claims(sealed, &records))
    };
    count_open(&schedule.claims, runs.iter().enumerate().rev().filter_map(tested))
}

/// The tested claims of a run, each with whether it was left open.
fn tested_claims(schedule: &Schedule, records: &[Record]) -> Vec<(Claim, bool)> {
    let judged = advice::judge(schedule, records);
    let tested = |claim: &Claim| {
        let of_claim = judged.iter().filter(|one| one.claim.id == claim.id);
        let mut tested = of_claim.filter(|one| one.outcome.p().is_some()).peekable();
        tested.peek()?;
        Some((claim.clone(), tested.any(|one| one.outcome.verdict() == Verdict::Undecided)))
    };
    schedule.claims.iter().filter_map(tested).collect()
}

/// How many runs in a row, up to the latest, left each claim open. What lies before a decision is
/// not looked at.
fn count_open(
    claims: &[Claim],
    latest_first: impl Iterator<Item = Vec<(Claim, bool)>>,
) -> BTreeMap<String, u32> {
    let mut left_open = BTreeMap::new();
    let mut counting: Vec<&Claim> = claims.iter().collect();
    let mut runs = latest_first;
    while !counting.is_empty()
        && let Some(tested) = runs.next()
    {
        counting.retain(|claim| {
            let own = tested.iter().find(|(own, _)| claim.is_judged_as(own));
            let is_open = own.is_none_or(|(_, is_open)| *is_open);
            if own.is_some() && is_open {
                *left_open.entry(claim.id.clone()).or_default() += 1;
            }
            is_open
        });
    }
    left_open
}

/// Whether a run would only do again what an earlier one did: in virtual time it finds the same.
fn is_the_same_run(earlier: &Schedule, schedule: &Schedule) -> bool {
    schedule.is_in(LabKind::Virtual)
        && earlier.seed == schedule.seed
        && earlier.trials == schedule.trials
}

/// A run, if it can be read and has results.
fn with_results(results: &Path, name: &str) -> Option<RunContents> {
    let contents = RunFolder::read(&results.join(name)).ok()?;
    let has_results = contents.records.iter().any(|record| record.status == TrialStatus::Ok);
    has_results.then_some(contents)
}

/// The names of what look like runs of a plan, the earliest first.
fn names_of_runs(results: &Path, plan: &str) -> Vec<String> {
    let entries = fs::read_dir(results).into_iter().flatten();
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    // Run names are the plan's name and the time.
    let is_of_plan = |name: &String| {
        let time = name.strip_prefix(plan).and_then(|rest| rest.strip_prefix('-'));
        time.is_some_and(|time| time.starts_with(|c: char| c.is_ascii_digit()))
    };
    let mut names: Vec<String> = names.filter(is_of_plan).collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests;
