//! Tests of how many treatments a plan may have.

use std::collections::BTreeSet;
use std::path::Path;

use crate::{Overrides, Schedule, schedule};

/// A plan with this many levels of each of two factors.
fn with_levels(mounts: usize, prefills: usize) -> Result<Schedule, String> {
    let listed = |levels: Vec<String>| format!("[\"{}\"]", levels.join("\", \""));
    let mounts = listed((1..=mounts).map(|seconds| format!("commit={seconds}")).collect());
    let prefills = listed((1..=prefills).map(|share| format!("{share} %")).collect());
    let text = format!(
        "name = \"p\"\nquestion = \"?\"\n[factors]\nfilesystem = \"ext4\"\nmount = {mounts}\n\
         prefill = {prefills}\n[baseline]\nmount = \"commit=1\"\nprefill = \"1 %\"\n\
         [workload]\nphases = [{{ do = \"sync\" }}]\n"
    );
    let overrides = Overrides { runs: Some(1), ..Overrides::default() };
    schedule("p.toml", &text, &overrides, Path::new("/")).map_err(|error| {
        let help = miette::Diagnostic::help(&error).map(|help| help.to_string());
        format!("{error}; {}", help.unwrap_or_default())
    })
}

#[test]
fn a_plan_has_at_most_a_thousand_treatments() {
    for (mounts, prefills) in [(1_000, 1), (50, 20)] {
        let schedule = with_levels(mounts, prefills).unwrap();
        let levels: BTreeSet<_> = schedule.treatments.iter().map(|own| &own.levels).collect();
        assert_eq!((levels.len(), schedule.treatments.len()), (1_000, 1_000));
        // One trial each.
        assert_eq!(schedule.trials.len(), 1_000);
    }
    for (mounts, prefills, told) in [
        (1_001, 1, "`mount` has more than 1000 levels; name fewer"),
        (91, 11, "more than 1000 combinations of levels; vary fewer factors"),
    ] {
        let refused = with_levels(mounts, prefills).map(|_| ()).unwrap_err();
        assert!(refused.starts_with(told), "{refused}");
    }
}
