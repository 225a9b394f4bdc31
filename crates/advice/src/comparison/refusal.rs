//! Refuses comparisons whose numbers would not measure the same thing.

use std::time::Duration;

use miette::Diagnostic;
use serde_json::{Value, json};
use ssdlab_plan::metric::Metric;
use ssdlab_plan::schedule::{self, FileTree, Workload};
use ssdlab_plan::{Bytes, Levels, Origin, Span};
use thiserror::Error;

use super::candidate::Candidate;
use super::facts::done_differently;

/// The maximum number of treatments or phases that a message names.
const MOST_NAMED: usize = 4;

/// Runs that cannot be compared.
#[derive(Debug, Error, Diagnostic)]
pub enum Incomparable {
    /// A run in which nothing was measured.
    #[error("{run} has no trial{of_drive} that went well: {reason}")]
    #[diagnostic(help("go on with it (`ssdlab run --resume {run}`), or leave it out"))]
    NothingMeasured {
        run: String,
        /// Of which drive, if its trials are of several.
        of_drive: &'static str,
        /// Why not.
        reason: String,
    },
    /// The runs did different operations.
    #[error("{run} and {first} did not do the same: {what}")]
    #[diagnostic(help(
        "a ratio would be that of the workloads; run the same plan again with the same --scale and \
         --source, and compare that"
    ))]
    Workload {
        run: String,
        /// The one it is compared with.
        first: String,
        /// What differs.
        what: String,
    },
    /// The metric comes from another lab, and so from another clock.
    #[error("{metric} of {run} is of the {lab} lab, and that of {first} of the {first_lab} lab")]
    #[diagnostic(help(
        "virtual time, the times of an image file and those of a drive are not of the same thing; \
         what a filesystem writes is: --metric written_bytes"
    ))]
    Lab {
        metric: Metric,
        run: String,
        lab: Origin,
        /// The one it is compared with.
        first: String,
        first_lab: Origin,
    },
    /// A metric that a run does not have.
    #[error("no trial of {run} has the metric {metric}")]
    #[diagnostic(help("it has: {known}"))]
    NotMeasured {
        run: String,
        metric: Metric,
        /// The metrics it has.
        known: String,
    },
    /// The runs share no treatment.
    #[error("{run} and {first} have no treatment in common: {own} against {others}")]
    #[diagnostic(help(
        "treatments are the same if all their levels are, but for what all trials of a run found \
         alike (drive, condition, host, age, prefill, stale); `ssdlab report` compares treatments \
         within one run"
    ))]
    Treatments {
        run: String,
        /// The one it is compared with.
        first: String,
        /// The run's treatments.
        own: String,
        /// The other run's treatments.
        others: String,
    },
}

/// Refuses what can be seen without looking at treatments.
pub(super) fn check_all(candidates: &[Candidate]) -> Result<(), Incomparable> {
    let first = &candidates[0];
    for candidate in candidates {
        let run = || candidate.run.clone();
        if !candidate.has_good_trials() {
            let reason = candidate.first_reason.clone();
            let reason = reason.unwrap_or_else(|| "none has run yet".to_owned());
            let has_others = candidate.schedule.plausible > 0;
            let of_drive = if has_others { " on the published drive" } else { "" };
            return Err(Incomparable::NothingMeasured { run: run(), of_drive, reason });
        }
        let workloads = (&candidate.schedule.workload, &first.schedule.workload);
        if let Some(what) = difference(workloads.0, workloads.1) {
            return Err(Incomparable::Workload { run: run(), first: first.run.clone(), what });
        }
        let (lab, first_lab) = (candidate.schedule.origin(), first.schedule.origin());
        let metric = first.metric;
        if lab != first_lab && metric.is_of_the_drive() {
            let first = first.run.clone();
            return Err(Incomparable::Lab { metric, run: run(), lab, first, first_lab });
        }
        if !candidate.metrics.contains(&metric) {
            let known: Vec<&str> = candidate.metrics.iter().map(|metric| metric.name).collect();
            let known = known.join(", ");
            return Err(Incomparable::NotMeasured { run: run(), metric, known });
        }
    }
    Ok(())
}

/// Refuses a run that shares no treatment with the first.
pub(super) fn check_shared(
    candidates: &[Candidate],
    keys: &[Vec<Levels>],
    shared: &[Vec<Option<usize>>],
) -> Result<(), Incomparable> {
    let lonely = |run: &usize| shared.iter().all(|places| places[*run].is_none());
    let Some(run) = (1..candidates.len()).find(lonely) else {
        return check_imports(candidates, shared);
    };
    let named = |run: usize| {
        let of = &candidates[run].schedule;
        let varied = |levels: &Levels| {
            if keys[run].len() > 1 { of.distinct(levels) } else { levels.clone() }
        };
        listed(keys[run].iter().map(|levels| varied(levels).to_string()))
    };
    Err(Incomparable::Treatments {
        run: candidates[run].run.clone(),
        first: candidates[0].run.clone(),
        own: named(run),
        others: named(0),
    })
}

/// Refuses imports whose files say that another workload ran.
fn check_imports(
    candidates: &[Candidate],
    shared: &[Vec<Option<usize>>],
) -> Result<(), Incomparable> {
    let first = &candidates[0];
    for places in shared {
        for (run, place) in candidates.iter().zip(places).skip(1) {
            let facts = places[0].zip(*place).map(|(a, b)| (&first.facts[a], &run.facts[b]));
            if let Some(what) = facts.and_then(|(one, other)| done_differently(other, one)) {
                let (run, first) = (run.run.clone(), first.run.clone());
                return Err(Incomparable::Workload { run, first, what });
            }
        }
    }
    Ok(())
}

fn listed(all: impl Iterator<Item = String>) -> String {
    let all: Vec<String> = all.collect();
    let more = all.len().saturating_sub(MOST_NAMED);
    let some = all[..all.len() - more].join("; ");
    if more == 0 { some } else { format!("{some}; {more} more") }
}

/// The first difference between two workloads.
fn difference(one: &Workload, other: &Workload) -> Option<String> {
    let differ = |what: &str, one: String, other: String| {
        (one != other).then(|| format!("{what} {one} against {other}"))
    };
    let names = |workload: &Workload| -> String {
        listed(workload.phases.iter().map(|phase| phase.name.clone()))
    };
    let does = |phase: &schedule::Phase| {
        let schedule::Phase { action, sync, cold, reader, .. } = phase;
        json!({ "do": action, "sync": sync, "cold": cold, "reader": reader })
    };
    let tree = |workload: &Workload| match &workload.tree {
        Some(FileTree::Synthetic { files, bytes }) => Some((*files, *bytes)),
        _ => None,
    };
    let of = |(files, bytes): (u64, u64)| format!("{files} files, {}", Bytes(bytes));
    let trees = tree(one).zip(tree(other));
    let whole = trees
        .and_then(|(one, other)| differ("a tree of", of(one), of(other)))
        .or_else(|| differing("the tree", &json!(one.tree), &json!(other.tree)))
        .or_else(|| differing("the build", &json!(one.build), &json!(other.build)))
        .or_else(|| differing("Bonnie's sizes", &json!(one.bonnie), &json!(other.bonnie)))
        .or_else(|| {
            let is_equal = one.phases.len() == other.phases.len()
                && one.phases.iter().zip(&other.phases).all(|(a, b)| a.name == b.name);
            (!is_equal).then(|| format!("phases {} against {}", names(one), names(other)))
        });
    let phases = || one.phases.iter().zip(&other.phases);
    let phase = |(one, other): (&schedule::Phase, &schedule::Phase)| {
        differing(&format!("`{}`", one.name), &does(one), &does(other))
    };
    whole.or_else(|| phases().find_map(phase))
}

/// The first value in which two parts of schedules differ, in a plan's words as far as it has them.
fn differing(what: &str, one: &Value, other: &Value) -> Option<String> {
    let (path, one, other) = first_difference(one, other)?;
    let key = path.last().map_or("", String::as_str);
    let [one, other] = [one, other].map(|value| worded(key, value));
    let path = path.iter().map(|part| spoken(part)).collect::<Vec<_>>().join(" ");
    let path = if path.is_empty() { path } else { format!(", {path}") };
    Some(format!("{what}{path}: {one} against {other}"))
}

/// A key without its unit, which its value has.
fn spoken(key: &str) -> String {
    key.trim_end_matches("_ns").trim_end_matches("_bytes").replace('_', " ")
}

/// Where two values differ first, and what is there.
fn first_difference<'a>(
    one: &'a Value,
    other: &'a Value,
) -> Option<(Vec<String>, &'a Value, &'a Value)> {
    if one == other {
        return None;
    }
    if let (Value::Object(own), Value::Object(others)) = (one, other)
        && own.keys().eq(others.keys())
    {
        return own.iter().find_map(|(key, value)| {
            let (mut path, one, other) = first_difference(value, &others[key])?;
            path.insert(0, key.clone());
            Some((path, one, other))
        });
    }
    Some((Vec::new(), one, other))
}

/// A value in words; its key says its unit. Of a table, what it is or how it begins.
fn worded(key: &str, value: &Value) -> String {
    let amount = value.as_u64();
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Number(_) if key.ends_with("_ns") => amount
            .map_or_else(|| value.to_string(), |ns| Span(Duration::from_nanos(ns)).to_string()),
        Value::Number(_) if key.ends_with("bytes") => {
            amount.map_or_else(|| value.to_string(), |bytes| Bytes(bytes).to_string())
        }
        Value::Number(number) => number.to_string(),
        Value::Array(parts) => listed(parts.iter().map(|part| worded(key, part))),
        Value::Object(parts) => listed(parts.iter().map(|(key, part)| match part {
            Value::Object(parts) if parts.is_empty() => key.clone(),
            part => format!("{} {}", spoken(key), worded(key, part)),
        })),
    }
}

#[cfg(test)]
mod tests;
