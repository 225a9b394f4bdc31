use clap::Parser;
use ssdlab_bisect::{Commit, Finding, Outcome, Step};

use super::*;
use crate::plan_arguments::Variation;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    variation: Variation,
}

fn asked(options: &[&str]) -> Asked {
    let line = Line::parse_from([&["ssdlab"], options].concat());
    Asked::resolve("journal", "clone-few-percent", &line.variation).unwrap()
}

fn ends() -> Ends {
    Ends { good: "a".repeat(40), bad: "b".repeat(40) }
}

fn step(commit: &str, finding: Finding) -> Step {
    let [subject, author, date] = ["ext4: speed up", "A", "2026-01-01"].map(str::to_owned);
    Step { commit: Commit { id: commit.to_owned(), subject, author, date }, finding }
}

#[test]
fn a_search_is_found_again_by_the_same_command_only() {
    let results = tempfile::tempdir().unwrap();
    let open = |options: &[&str]| {
        Kept::open(results.path(), &asked(options), Path::new("/linux"), &ends()).unwrap()
    };
    let mut kept = open(&[]);
    assert!(kept.read().unwrap().is_none());
    let steps = vec![
        step(&ends().good, Finding::Judged { holds: true, value: Some(1.1) }),
        step(&ends().bad, Finding::Judged { holds: false, value: None }),
        step("c", Finding::Skipped("it does not build".to_owned())),
    ];
    let outcome = Some(Outcome::Found(steps[1].commit.clone()));
    let bisection = Bisection { ends: ends(), steps, outcome };
    kept.write(&bisection).unwrap();
    assert_eq!(open(&[]).read().unwrap(), Some(bisection));
    for options in [["--seed", "2"], ["--scale", "0.5"], ["--set", "filesystem=ext4"]] {
        assert!(open(&options).read().unwrap().is_none(), "{options:?}");
    }
    fs::write(kept.path(), "{").unwrap();
    assert!(open(&[]).read().unwrap_err().to_string().contains("cannot be read"));
}
