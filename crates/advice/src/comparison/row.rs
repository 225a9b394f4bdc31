//! A row of a comparison: what each run measured of a treatment's phases.

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_plan::{LabKind, Levels};
use ssdlab_stats::holm;

use super::between::{RunRatio, between};
use super::candidate::Candidate;
use crate::CONFIDENCE;

/// A treatment's phases in every run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ComparisonRow {
    /// The treatment, without the levels that the runs themselves differ in.
    pub levels: Levels,
    /// The phases that are taken together.
    pub phases: Vec<String>,
    /// One for each run.
    pub cells: Vec<ComparisonCell>,
}

/// What one run measured of a row.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ComparisonCell {
    /// Trials that went well.
    pub n: usize,
    /// Their arithmetic mean, in the metric's unit.
    pub mean: Option<f64>,
    /// How it compares with the first run; absent for that run.
    pub effect: Option<RunRatio>,
    /// Why there is no effect, where both were measured.
    pub reason: Option<String>,
}

/// What each run measured of a treatment; `places` are the treatment's indices in the runs.
pub(super) fn cells(
    candidates: &[Candidate],
    places: &[Option<usize>],
    quantity: usize,
) -> Vec<ComparisonCell> {
    let values = |run: usize| {
        let treatment = places[run]?;
        Some(candidates[run].values(treatment, quantity))
    };
    let of_baseline = values(0).unwrap_or_default();
    let is_seeded = |run: usize| candidates[run].schedule.is_in(LabKind::Virtual);
    let cell = |run: usize| {
        let own = values(run).unwrap_or_default();
        let sum: f64 = own.iter().map(|(_, value)| value).sum();
        let has_both = run > 0 && !own.is_empty() && !of_baseline.is_empty();
        let compared =
            has_both.then(|| between(&own, &of_baseline, is_seeded(0) && is_seeded(run)));
        let (effect, reason) = match compared {
            None => (None, None),
            Some(Ok(effect)) => (Some(effect), None),
            Some(Err(reason)) => (None, Some(reason)),
        };
        ComparisonCell {
            n: own.len(),
            mean: (!own.is_empty()).then(|| sum / own.len() as f64),
            effect,
            reason,
        }
    };
    (0..candidates.len()).map(cell).collect()
}

/// Corrects for the number of effects which of them count as different; returns that number.
pub(super) fn correct(rows: &mut [ComparisonRow]) -> usize {
    let mut tested: Vec<&mut RunRatio> = rows
        .iter_mut()
        .flat_map(|row| &mut row.cells)
        .filter_map(|cell| cell.effect.as_mut())
        .filter(|effect| effect.p.is_some())
        .collect();
    let raw: Vec<f64> = tested.iter().filter_map(|effect| effect.p).collect();
    for (effect, p) in tested.iter_mut().zip(holm(&raw)) {
        effect.p = Some(p);
        effect.is_different = p < 1.0 - CONFIDENCE;
    }
    raw.len()
}
