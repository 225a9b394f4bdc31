//! What an answer is worth, in one of four words, and why.

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_advice::{Analysis, Completeness, Judgement, TreatmentResult, Verdict};
use ssdlab_plan::{AnswerBasis, LabKind, Origin, PublishedBasis, Schedule};

use super::facts::{ClaimFacts, drives, range};
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
        Predicted: "predicted",
        Reproduced: "reproduced",
        Assumed: "assumed",
    }
}

/// What the answer of the claims that decide is worth, and why.
pub(super) fn certainty(
    schedule: &Schedule,
    analysis: &Analysis,
    deciding: &[Vec<&Judgement>],
) -> (Certainty, String) {
    let is_virtual = analysis.lab == Origin::Lab(LabKind::Virtual);
    let all = || deciding.iter().flatten();
    // One claim that the models do not decide is a prediction.
    let constructed = all().map(|case| case.by_construction.as_deref()).collect::<Option<Vec<_>>>();
    let constructed = constructed.and_then(|why| why.first().copied());
    let (sure, basis) = match (is_virtual, constructed, &schedule.answer.rests_on) {
        (false, ..) => (Certainty::Measured, None),
        (_, None, _) => (Certainty::Predicted, None),
        (_, Some(_), Some(AnswerBasis::Reproduced(why))) => (Certainty::Reproduced, Some(&**why)),
        (_, Some(_), Some(AnswerBasis::Assumed(why))) => (Certainty::Assumed, Some(&**why)),
        (_, Some(why), None) => (Certainty::Assumed, Some(why)),
    };
    // What was not tested has no range.
    let is_tested = |case: &&Judgement| case.outcome.verdict() != Verdict::Untested;
    let first = deciding.iter().find(|cases| cases.iter().all(is_tested));
    let first = first.map_or(&[][..], Vec::as_slice);
    // No claim has a number for the best of a ranking.
    let first = if schedule.answer.names_best() { &[][..] } else { first };
    let over = first.first().and_then(|case| case.plausible.as_ref());
    let on = match over {
        Some(over) => {
            let holds = if (1..over.of).contains(&over.holds) {
                format!(" (the claim holds on {})", number_word(over.holds))
            } else {
                String::new()
            };
            let but = if over.published_differs() { ", unlike the one in question" } else { "" };
            format!("on {}{holds}{but}", drives(over.of))
        }
        None => format!("in {}", runs(analysis)),
    };
    let amount = ClaimFacts { analysis, cases: first }.amount();
    let range = range(first).map(|range| format!("{range} {on}"));
    let found = match (amount, range) {
        (Some(amount), Some(range)) => format!("{amount}, {range}"),
        (Some(amount), None) => format!("{amount} {on}"),
        (None, Some(range)) => range,
        (None, None) => on,
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
    let parts = [Some(found), published, where_, partial, basis.map(str::to_owned)];
    (sure, parts.into_iter().flatten().collect::<Vec<_>>().join("; "))
}

/// What the source measured, to compare a prediction with.
fn published(case: &Judgement) -> Option<String> {
    let claim = &case.claim;
    let value = claim.published.filter(|_| claim.basis() == PublishedBasis::Predicted)?;
    let unit = claim.metric.unit;
    Some(if claim.is_absolute() {
        format!("the source has {}", number::spoken(unit, value))
    } else {
        format!("the source has {} times", number::spoken_ratio(value))
    })
}

fn runs(analysis: &Analysis) -> String {
    let trials = |own: &TreatmentResult| own.trials.len();
    let most = analysis.treatments.iter().map(trials).max().unwrap_or(0);
    match most {
        1 => "one run".to_owned(),
        several => format!("{} runs of each", number_word(several)),
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
