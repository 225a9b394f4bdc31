//! What an answer is worth, in one of four words, and why.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_advice::{Analysis, Completeness, Judgement, OverDrives, Verdict};
use ssdlab_plan::schedule::Claim;
use ssdlab_plan::{AnswerBasis, ClaimFact, Factor, LabKind, Origin, PublishedBasis, Schedule};
use ssdlab_quantity::listed;

use super::facts::{ClaimFacts, range, variants};
use super::ranking;
use crate::evidence::bounds;
use crate::nouns::number_word;
use crate::number;

/// What an answer is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Certainty {
    /// Measured on this machine or drive.
    Measured,
    /// Of a model that was not fitted to it.
    Predicted,
    /// Of a model that was fitted to it.
    Reproduced,
    /// It follows from an assumption of the model.
    Assumed,
}

ssdlab_operations::words! {
    Certainty {
        Measured: "measured",
        Predicted: "predicted by simulation",
        Reproduced: "reproduced by simulation",
        Assumed: "assumed in the simulation",
    }
}

/// What the answer of the claims that decide is worth, and why. It is judged if it is a yes or a
/// no, which a bound decides, and not numbers alone.
pub(super) fn certainty(
    schedule: &Schedule,
    analysis: &Analysis,
    deciding: &[Vec<&Judgement>],
    is_judged: bool,
) -> (Certainty, String) {
    let is_virtual = analysis.lab == Origin::Lab(LabKind::Virtual);
    // An answer is worth what the weakest of its claims is.
    let constructed = deciding.iter().flatten().find_map(|case| case.by_construction.as_deref());
    let (sure, basis) = match (is_virtual, constructed, &schedule.answer.rests_on) {
        (false, ..) => (Certainty::Measured, None),
        (_, None, _) => (Certainty::Predicted, None),
        (_, Some(_), Some(AnswerBasis::Reproduced(why))) => (Certainty::Reproduced, Some(&**why)),
        (_, Some(_), Some(AnswerBasis::Assumed(why))) => (Certainty::Assumed, Some(&**why)),
        (_, Some(why), None) => (Certainty::Assumed, Some(why)),
    };
    // What was not tested has no range, and no claim has a number for the best of a ranking.
    let is_tested = |case: &&Judgement| case.outcome.verdict() != Verdict::Untested;
    let first = deciding.iter().find(|cases| cases.iter().all(is_tested));
    let names_best = schedule.answer.names_best();
    let first = first.filter(|_| !names_best).map_or(&[][..], Vec::as_slice);
    let facts = ClaimFacts { schedule, analysis, cases: first };
    let amount = if names_best { ranking::margin(schedule, analysis) } else { facts.amount() };
    let is_of_cuts = first.iter().any(|case| case.claim.metric.is_of_cuts());
    let on = match first.first().and_then(|case| case.plausible.as_ref()) {
        Some(over) => on_drives(&facts, over),
        None => runs(schedule, analysis, is_of_cuts),
    };
    // What is drawn or cut is so for each filesystem and each drive apart.
    let is_apart = is_of_cuts || drives(first).len() > 1;
    let apart = if is_apart { facts.each(ClaimFact::Range) } else { None };
    let several = || several(schedule, analysis, deciding);
    let found = match (apart.or_else(several), amount, range(first)) {
        (Some(found), ..) | (None, Some(found), None) | (None, None, Some(found)) => {
            format!("{found} {on}")
        }
        (None, Some(amount), Some(range)) => format!("{amount}, {range} {on}"),
        (None, None, None) => on.trim_start_matches("in ").to_owned(),
    };
    let partial = match analysis.status {
        Completeness::Complete => None,
        Completeness::Partial => {
            let ran: usize = analysis.treatments.iter().map(|own| own.trials.len()).sum();
            let all = schedule.expected_trials().max(ran);
            Some(format!("{ran} of at least {all} trials have run"))
        }
    };
    let where_ = matches!(sure, Certainty::Measured).then(|| measured_on(analysis)).flatten();
    let published =
        first.first().filter(|_| sure == Certainty::Predicted).and_then(|case| published(case));
    let stronger = basis.and_then(|_| predicted(schedule, analysis, deciding));
    let late = is_judged.then(|| afterthought(deciding)).flatten();
    let basis = basis.map(str::to_owned);
    let parts = [Some(found), published, where_, partial, basis, stronger, late];
    (sure, parts.into_iter().flatten().collect::<Vec<_>>().join("; "))
}

/// What is predicted, where other claims that decide follow from the model; `None` if nothing is.
fn predicted(
    schedule: &Schedule,
    analysis: &Analysis,
    deciding: &[Vec<&Judgement>],
) -> Option<String> {
    let is_predicted =
        |cases: &&Vec<&Judgement>| cases.iter().all(|case| case.by_construction.is_none());
    let of = |cases: &Vec<&Judgement>| ClaimFacts { schedule, analysis, cases }.amount();
    let amounts: Vec<String> = deciding.iter().filter(is_predicted).filter_map(of).collect();
    (!amounts.is_empty()).then(|| format!("predicted: {}", listed(&amounts)))
}

/// That a claim which decides was made when results were known, if one was.
fn afterthought(deciding: &[Vec<&Judgement>]) -> Option<String> {
    let is_late = deciding.iter().flatten().any(|case| case.claim.exploratory.is_some());
    is_late.then(|| "part of the test was chosen after a first run".to_owned())
}

/// The amounts of all claims that decide, each with its range over plausible drives; `None` if the
/// first is all that can be named like this.
fn several(
    schedule: &Schedule,
    analysis: &Analysis,
    deciding: &[Vec<&Judgement>],
) -> Option<String> {
    let is_like_first = |cases: &&Vec<&Judgement>| {
        let first = &deciding[0][0];
        cases.iter().all(|case| {
            let claim = &case.claim;
            case.plausible.is_some()
                && case.outcome.verdict() != Verdict::Untested
                && claim.metric == first.claim.metric
                && claim.is_absolute() == first.claim.is_absolute()
                && drives(cases) == drives(&deciding[0])
        })
    };
    let of = |cases: &Vec<&Judgement>| {
        let amount = ClaimFacts { schedule, analysis, cases }.amount()?;
        let Some(range) = range(cases) else { return Some(amount) };
        // `170 a second (120 to 190)` has the unit once.
        let unit = amount.rsplit(|c: char| c.is_ascii_digit()).next().unwrap_or_default();
        let range = range.strip_suffix(unit).unwrap_or(&range);
        Some(format!("{amount} ({range})"))
    };
    let all: Vec<String> = deciding.iter().filter(is_like_first).map(of).collect::<Option<_>>()?;
    (all.len() > 1).then(|| listed(&all))
}

/// The drives of the cases.
fn drives(cases: &[&Judgement]) -> BTreeSet<Option<String>> {
    let drive = |case: &&Judgement| case.levels.as_ref()?.0.get(&Factor::Drive).cloned();
    cases.iter().map(drive).collect()
}

/// What the source measured, to compare a prediction with.
fn published(case: &Judgement) -> Option<String> {
    let claim = &case.claim;
    let value = claim.published.filter(|_| claim.basis() == PublishedBasis::Predicted)?;
    Some(format!("{} by the source", claimed(claim, value)))
}

/// On how many plausible drives there is this range, and on how many a claim holds that does not
/// hold on all.
fn on_drives(facts: &ClaimFacts<'_>, over: &OverDrives) -> String {
    let of = if drives(facts.cases).len() > 1 { "each" } else { "the" };
    let holds = match (facts.cases, facts.holds_on()) {
        ([first, ..], Some([holds, of])) if (1..of).contains(&holds) => {
            format!(" ({} on {} of them)", bounds(first, claimed), number_word(holds))
        }
        _ => String::new(),
    };
    let but = if over.published_differs() { ", unlike the drive itself" } else { "" };
    format!("on {} of {of} drive{holds}{but}", variants(over.of))
}

/// A number of the kind that a claim is about.
fn claimed(claim: &Claim, value: f64) -> String {
    if claim.is_absolute() {
        return number::spoken(claim.metric.unit, value);
    }
    format!("{} times", number::spoken_ratio(value))
}

/// The most runs of a treatment, or the most power cuts if they are counted.
fn runs(schedule: &Schedule, analysis: &Analysis, is_of_cuts: bool) -> String {
    let runs = analysis.treatments.iter().map(|own| own.trials.len()).max().unwrap_or(0);
    match (schedule.cuts.as_ref().filter(|_| is_of_cuts), runs) {
        (Some(cuts), _) => {
            format!("with 95 % confidence after {} cuts of each", cuts.of_trial as usize * runs)
        }
        (None, 1) => "in one run".to_owned(),
        (None, several) => format!("in {} runs of each", number_word(several)),
    }
}

/// What was measured, if not a whole drive alone.
fn measured_on(analysis: &Analysis) -> Option<String> {
    Some(match analysis.lab {
        Origin::Lab(LabKind::Image) => "in an image file, not on a drive".to_owned(),
        Origin::Lab(LabKind::Directory) => "with whatever else this machine did".to_owned(),
        Origin::Lab(LabKind::Live) => "while this machine did its own work".to_owned(),
        Origin::Imported => "by another program".to_owned(),
        Origin::Lab(_) => return None,
    })
}
