//! A plan's claims are sealed by its first run with results: later claims and changes are made
//! knowing these.

use std::fs;
use std::path::Path;

use ssdlab_plan::{Schedule, shipped};
use ssdlab_results::{Run, Status};

/// Marks the claims that the first run of the plan does not have in this form, and returns their
/// names and that run's name. Claims of a shipped plan were made without knowing the results kept
/// here.
pub fn seal(results: &Path, plan: &str, schedule: &mut Schedule) -> Option<(Vec<String>, String)> {
    if shipped::ALL.iter().any(|own| own.text == plan) {
        return None;
    }
    let (first, sealed) = first_run(results, &schedule.plan)?;
    let open = schedule.claims.iter_mut().filter(|claim| claim.exploratory.is_none());
    let mut late = Vec::new();
    for claim in open.filter(|claim| !sealed.claims.iter().any(|own| claim.is_judged_as(own))) {
        claim.exploratory = Some(format!("made or changed after {first} had results"));
        late.push(claim.id.clone());
    }
    (!late.is_empty()).then_some((late, first))
}

/// The name and the schedule of the first run of a plan that has results. Unreadable runs do not
/// count: nobody saw their results.
fn first_run(results: &Path, plan: &str) -> Option<(String, Schedule)> {
    let entries = fs::read_dir(results).ok()?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name.starts_with(plan)).collect();
    // Run names end with the time.
    names.sort();
    names.into_iter().find_map(|name| {
        let contents = Run::read(&results.join(&name)).ok()?;
        let has_results = contents.records.iter().any(|record| record.status == Status::Ok);
        (has_results && contents.schedule.plan == plan).then_some((name, contents.schedule))
    })
}
