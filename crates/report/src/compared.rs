//! The treatments that the answer of a run rests on, named by what tells them apart.

use std::collections::BTreeSet;

use ssdlab_advice::{Analysis, Judgement, TreatmentResult, TreatmentStatus};
use ssdlab_plan::{Factor, Levels, Schedule};

use super::levels::named;

/// Treatments, and how they differ.
pub(super) struct ComparedTreatments<'a> {
    pub treatments: Vec<&'a TreatmentResult>,
    /// The phases that are compared; empty for all.
    pub phases: Vec<String>,
    /// The factors in which they differ.
    varied: Vec<Factor>,
    /// What they share and other treatments of the run do not.
    shared: Levels,
}

impl<'a> ComparedTreatments<'a> {
    /// The treatments and phases that the claims compare which answer the question. All that were
    /// selected if the plan names no such claim, or if another metric was asked for.
    pub fn of_answer(schedule: &Schedule, analysis: &'a Analysis) -> Self {
        let answers = |claim: &&Judgement| {
            schedule.answering_claim().is_some() && schedule.answer.contains(&claim.claim.id)
        };
        let claims: Vec<&Judgement> = analysis.claims.iter().filter(answers).collect();
        let sides = claims.iter().flat_map(|claim| claim.levels.iter().chain(&claim.baseline));
        let sides: BTreeSet<&Levels> = sides.collect();
        let is_selected = |own: &&TreatmentResult| own.status != TreatmentStatus::Unselected;
        let selected = analysis.treatments.iter().filter(is_selected);
        let treatments: Vec<&TreatmentResult> =
            selected.filter(|own| sides.is_empty() || sides.contains(&own.levels)).collect();
        let phases = claims.iter().flat_map(|claim| claim.claim.all_phases());
        let phases: BTreeSet<String> = phases.collect();
        let mut phases: Vec<String> = phases.into_iter().collect();
        phases.sort_by_key(|phase| schedule.phase_names().iter().position(|name| name == phase));
        let levels = treatments.first().map(|own| own.levels.clone()).unwrap_or_default();
        let differs = |factor: &Factor| {
            treatments.iter().any(|own| own.levels.0.get(factor) != levels.0.get(factor))
        };
        let mut varied: Vec<Factor> = levels.0.keys().copied().filter(differs).collect();
        let shared = schedule.distinct(&levels);
        if treatments.len() == 1 {
            // One alone is named in full.
            varied = shared.0.keys().copied().collect();
        }
        let shared = shared.only(|factor| !varied.contains(factor));
        Self { treatments, phases, varied, shared }
    }

    /// A treatment by the levels in which it differs from the others.
    pub fn name(&self, treatment: &TreatmentResult) -> String {
        named(&treatment.levels.only(|factor| self.varied.contains(factor)))
    }

    /// What they share, as the end of a heading.
    pub fn context(&self) -> String {
        if self.shared.0.is_empty() { String::new() } else { format!(" ({})", self.shared) }
    }
}
