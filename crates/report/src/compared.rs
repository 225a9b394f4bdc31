//! The treatments that the answer of a run rests on, named by what tells them apart.

use std::collections::BTreeSet;

use ssdlab_advice::{Analysis, Judgement, TreatmentResult, TreatmentStatus};
use ssdlab_plan::{Factor, Levels, Schedule};

use super::levels::labelled;
use super::words::plain;

/// Treatments, and how they differ.
pub(super) struct ComparedTreatments<'a> {
    pub treatments: Vec<&'a TreatmentResult>,
    /// The factors in which they differ.
    varied: Vec<Factor>,
    schedule: &'a Schedule,
}

impl<'a> ComparedTreatments<'a> {
    /// The treatments that these claims of the answer compare. All that were selected if there is
    /// no such claim, or if another metric was asked for.
    pub fn of_answer(schedule: &'a Schedule, analysis: &'a Analysis, charted: &[String]) -> Self {
        let answers = |claim: &&Judgement| {
            schedule.answering_claim().is_some() && charted.contains(&claim.claim.id)
        };
        let claims: Vec<&Judgement> = analysis.claims.iter().filter(answers).collect();
        let sides = claims.iter().flat_map(|claim| claim.levels.iter().chain(&claim.baseline));
        let sides: BTreeSet<&Levels> = sides.collect();
        let is_selected = |own: &&TreatmentResult| own.status != TreatmentStatus::Unselected;
        let selected = analysis.treatments.iter().filter(is_selected);
        let treatments: Vec<&TreatmentResult> =
            selected.filter(|own| sides.is_empty() || sides.contains(&own.levels)).collect();
        let levels = treatments.first().map(|own| own.levels.clone()).unwrap_or_default();
        let differs = |factor: &Factor| {
            treatments.iter().any(|own| own.levels.0.get(factor) != levels.0.get(factor))
        };
        let mut varied: Vec<Factor> = levels.0.keys().copied().filter(differs).collect();
        if treatments.len() == 1 {
            // One alone is named in full.
            varied = schedule.distinct(&levels).0.keys().copied().collect();
        }
        Self { treatments, varied, schedule }
    }

    /// A treatment by the levels in which it differs from the others.
    pub fn name(&self, treatment: &TreatmentResult) -> String {
        let levels = treatment.levels.0.iter();
        let levels = levels.filter(|(factor, _)| self.varied.contains(factor));
        let names = levels.map(|(factor, level)| labelled(self.schedule, *factor, level));
        plain(&names.filter(|name| !name.is_empty()).collect::<Vec<_>>().join(", "))
    }
}
