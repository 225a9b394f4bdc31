//! A search in words.

use std::fmt::Write;
use std::path::Path;

use ssdlab_bisect::{Commit, Finding, Outcome, Step};
use ssdlab_report::{claimed, counted};

use super::asked::Asked;
use super::kept::Search;

/// The first digits of a commit's hash, which are enough for people.
pub fn short(commit: &Commit) -> &str {
    commit.id.get(..12).unwrap_or(&commit.id)
}

/// A finding, after the name of its revision.
pub fn finding(asked: &Asked, finding: &Finding) -> String {
    match finding {
        Finding::Judged { holds, value } => {
            format!("{}, {}", verdict(*holds), amount(asked, *value))
        }
        Finding::Skipped(why) => format!("is skipped: {why}"),
    }
}

/// The commit that was found, and what that rests on.
pub fn found(asked: &Asked, search: &Search, path: &Path) -> String {
    let bisection = &search.bisection;
    let changed = bisection.verdicts().map_or("", |verdicts| verdict(verdicts.bad));
    let mut out = String::new();
    let _ = match &bisection.outcome {
        Some(Outcome::Found(commit)) => {
            writeln!(out, "the claim {changed} from this commit on:\n\n{}", whole(commit))
        }
        Some(Outcome::OneOf(commits)) => {
            let all: Vec<String> = commits.iter().map(whole).collect();
            writeln!(
                out,
                "the claim {changed} from one of these commits on; all but the first had to be \
                 skipped:\n\n{}",
                all.join("\n")
            )
        }
        _ => Ok(()),
    };
    let _ = writeln!(out, "\nclaim `{}`: {}\n", asked.subject.id, search.says());
    for Step { commit, finding } in &bisection.steps {
        let role = match &commit.id {
            id if *id == bisection.ends.good => " (good)",
            id if *id == bisection.ends.bad => " (bad)",
            _ => "",
        };
        let id = short(commit);
        let _ = writeln!(out, "{id} {}{role}: {}", commit.subject, self::finding(asked, finding));
    }
    let is_skipped = |step: &&Step| matches!(step.finding, Finding::Skipped(_));
    let skipped = bisection.steps.iter().filter(is_skipped).count();
    let _ = writeln!(
        out,
        "\n{} examined, {skipped} skipped; each was run once: equal trials are equal to the bit\n\
         Findings: {}\nThe build folder is kept for other searches in this tree; `ssdlab cache \
         clear` removes it",
        counted(bisection.steps.len(), "revision"),
        path.display()
    );
    out
}

fn verdict(holds: bool) -> &'static str {
    if holds { "holds" } else { "does not hold" }
}

fn amount(asked: &Asked, value: Option<f64>) -> String {
    let claim = &asked.claim;
    let of = if claim.is_absolute() { "" } else { "ratio of " };
    let value = value.map_or("infinite".to_owned(), |value| claimed(claim, value));
    format!("{of}{} {value}", claim.metric)
}

fn whole(commit: &Commit) -> String {
    format!("  {}\n  {} ({}, {})", commit.id, commit.subject, commit.author, commit.date)
}
