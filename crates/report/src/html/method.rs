//! How it was measured, on what, and the caveats.

use std::collections::BTreeSet;

use maud::{Markup, html as markup};
use ssdlab_advice::{Analysis, CONFIDENCE, Check, CheckOutcome, Judgement};
use ssdlab_plan::io::IoContents;
use ssdlab_plan::schedule::Repetitions;
use ssdlab_plan::{LabKind, Origin, Schedule};

use super::cells::boxed;
use crate::nouns::spoken;
use crate::number;
use crate::words::counted;

/// What a reader must know before believing the numbers.
pub(super) fn warnings(analysis: &Analysis) -> Option<Markup> {
    (!analysis.warnings.is_empty()).then(|| {
        markup! { ul.warnings { @for warned in &analysis.warnings { li { (warned.says) } } } }
    })
}

/// How it was measured and judged, and the method checks.
pub(super) fn method(schedule: &Schedule, analysis: &Analysis) -> Markup {
    let rows = if analysis.seed.is_some() { own(schedule, analysis) } else { Vec::new() };
    markup! {
        dl { @for (name, says) in rows { div { dt { (name) } dd { (says) } } } }
        h3 { "Checks" }
        ol.claims { @for one in &analysis.method { (check(one)) } }
    }
}

/// A method check with its result.
fn check(check: &Check) -> Markup {
    let (class, symbol) = match check.outcome {
        CheckOutcome::Met => ("holds", "✓"),
        CheckOutcome::NotMet => ("refuted", "✗"),
        CheckOutcome::Unknown => ("undecided", "?"),
    };
    markup! {
        li {
            p.verdict.(class) { span aria-hidden="true" { (symbol) } " " (check.outcome) }
            div {
                p.says { (check.criterion) ": " (check.evidence) }
                @if let Some(advice) = &check.advice { p.about { (advice) } }
            }
        }
    }
}

/// How a run that was not imported was measured.
fn own(schedule: &Schedule, analysis: &Analysis) -> Vec<(&'static str, String)> {
    let blocks: BTreeSet<u32> =
        analysis.treatments.iter().flat_map(|own| &own.trials).map(|trial| trial.block).collect();
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let confidence = percent(CONFIDENCE);
    let mut rows = vec![
        ("lab", analysis.lab.to_string()),
        ("treatments", schedule.treatments.len().to_string()),
        ("baseline", schedule.baseline.to_string()),
        ("phases", schedule.phase_names().join(", ")),
        ("contents", contents(schedule)),
        (
            "order",
            format!(
                "{}, in each every treatment once, in random order; the treatments of a block \
                 share its seed",
                counted(blocks.len(), "block")
            ),
        ),
        ("seed", schedule.seed.to_string()),
        ("repetitions", repetitions(&schedule.repetitions)),
        (
            "effects",
            match analysis.plausible_drives {
                _ if analysis.lab == Origin::Lab(LabKind::Live) => format!(
                    "ratios of totals, with intervals by the randomisation test at {confidence} \
                     over all looks"
                ),
                0 => format!(
                    "geometric means of ratios within blocks, with Student's t intervals of their \
                     logarithms at {confidence}"
                ),
                drives => format!(
                    "ratios on the published drive, with their range over it and {}",
                    counted(drives, "plausible drive")
                ),
            },
        ),
        ("verdicts", verdicts(&analysis.claims, &percent(1.0 - CONFIDENCE))),
        (
            "verified",
            if schedule.verify {
                "what each trial left was compared with what it must leave"
            } else {
                ""
            }
            .to_owned(),
        ),
    ];
    rows.retain(|(_, says)| !says.is_empty());
    rows
}

/// What the phases write whose contents are generated.
fn contents(schedule: &Schedule) -> String {
    let of = |(contents, phases): (IoContents, Vec<String>)| {
        format!("{}: {contents}", phases.join(", "))
    };
    schedule.generated_contents().into_iter().map(of).collect::<Vec<_>>().join("; ")
}

/// How claims were judged; claims made after results were known are a family of their own.
fn verdicts(claims: &[Judgement], error: &str) -> String {
    let (counted_on, tested): (Vec<_>, Vec<_>) =
        claims.iter().partition(|claim| claim.plausible.is_some());
    let (exploratory, confirmatory): (Vec<_>, Vec<_>) = tested
        .into_iter()
        .filter(|claim| claim.outcome.p().is_some())
        .partition(|claim| claim.claim.exploratory.is_some());
    let mut ways = Vec::new();
    if !counted_on.is_empty() {
        ways.push("counts of the plausible drives on which a claim holds".to_owned());
    }
    for (family, kind) in [(confirmatory, "claim"), (exploratory, "exploratory claim")] {
        if !family.is_empty() {
            ways.push(format!(
                "one-sided tests against the claimed bounds, corrected for {} by Holm's method: at \
                 most {error} for any wrong verdict",
                counted(family.len(), kind)
            ));
        }
    }
    ways.join("; ")
}

fn repetitions(rule: &Repetitions) -> String {
    if rule.least == rule.most {
        return format!("{}, fixed before", counted(rule.most as usize, "block"));
    }
    let mut budgets = Vec::new();
    budgets.extend(rule.time_ns.map(|time| number::duration(time as f64)));
    budgets.extend(rule.written_bytes.map(|bytes| number::bytes(bytes as f64)));
    let (least, most, precision) = (rule.least, rule.most, rule.precision * 100.0);
    let mut ends = vec![format!(
        "{least} to {most} blocks, until every interval is within +-{precision:.1} %"
    )];
    ends.extend(budgets.iter().map(|budget| format!("or {budget} are spent")));
    ends.join(", ")
}

/// What trials ran on, with a remark on what differed between them.
pub(super) fn environment(analysis: &Analysis) -> Option<Markup> {
    let facts = markup! {
        thead { tr { th scope="col" { "fact" } th scope="col" { "value" } } }
        tbody {
            @for (name, values) in &analysis.environment {
                tr {
                    th scope="row" { (spoken(name)) }
                    td {
                        @if values.len() > 1 { strong { "differs between trials: " } }
                        @let facts: Vec<_> = values.iter().map(|it| fact(name, it)).collect();
                        (facts.join(" | "))
                    }
                }
            }
        }
    };
    let settings = markup! {
        thead { tr { th scope="col" { "setting" } th scope="col" { "value" } } }
        tbody {
            @for (name, value) in &analysis.applied {
                tr { th scope="row" { (spoken(name)) } td { (fact(name, value)) } }
            }
        }
    };
    let alike = markup! { "Settings as read back, where all trials agree" };
    (!analysis.environment.is_empty()).then(|| {
        markup! {
            (boxed("machine", "facts", &markup! { "The machine and the programs" }, &facts))
            @if !analysis.applied.is_empty() {
                (boxed("settings", "facts", &alike, &settings))
            }
        }
    })
}

fn fact(name: &str, value: &str) -> String {
    let amount = if name.ends_with("_bytes") { value.parse().ok() } else { None };
    amount.map_or_else(|| value.to_owned(), number::bytes)
}
