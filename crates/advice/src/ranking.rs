//! Ranks treatments, and selects those that a run keeps for its next step.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_plan::metric::{Better, Metric};
use ssdlab_plan::schedule::Keep;
use ssdlab_plan::{Levels, Schedule};
use ssdlab_results::Record;
use ssdlab_stats::LogRatio;

use super::CONFIDENCE;
use super::pairs::{Blocks, Quantity};
use super::warning::Warning;

/// The treatments of a step, the best first.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct StepRanking {
    /// The step; absent where a run has none.
    pub step: Option<String>,
    /// The metric.
    pub metric: Metric,
    /// The phases it is taken over.
    pub phases: Vec<String>,
    /// Blocks it rests on.
    pub n: usize,
    /// The treatments that were measured in more than half of the step's blocks.
    pub places: Vec<RankedTreatment>,
}

/// A treatment's place.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Place")]
pub struct RankedTreatment {
    /// The treatment.
    pub levels: Levels,
    /// The metric, as a ratio to the first treatment's.
    pub ratio: f64,
    /// Its 95 % interval; absent for the first, for one block, and for few equal
    /// ones.
    pub interval: Option<[f64; 2]>,
    /// The best place it may have, from 1.
    pub first: usize,
    /// The worst place it may have.
    pub last: usize,
    /// The sets it is in, by number, from 1: treatments of a set cannot be told apart, those that
    /// share none can.
    pub sets: Vec<usize>,
    /// The phases in which no other treatment was shown to be better.
    pub best_in: Vec<String>,
    /// Whether it goes on to the next step; absent where there is none.
    pub goes_on: Option<bool>,
}

/// The rankings of all steps that have begun.
pub(super) fn all(schedule: &Schedule, blocks: &Blocks<'_>) -> Vec<StepRanking> {
    let steps = schedule.blocks().len();
    let ranked = (0..steps).map(|step| ranking(schedule, blocks, step));
    ranked.flatten().filter(|ranking| ranking.n > 0).collect()
}

fn ranking(schedule: &Schedule, blocks: &Blocks<'_>, step: usize) -> Option<StepRanking> {
    let by = schedule.ranking.as_ref()?;
    let candidates = candidates(schedule, blocks, step);
    let quantity = Quantity { metric: by.metric, phases: &by.phases };
    let (measured, values) = measured(blocks, quantity, &candidates, step);
    let ranked = ranked(&values, by.metric)?;
    let own = schedule.steps.get(step);
    let next = own.and_then(|own| own.keep).map(|_| self::candidates(schedule, blocks, step + 1));
    let best_in = best_in(blocks, &measured, quantity, step);
    let best = *ranked.order.first()?;
    let place = |index: &usize| {
        let (treatment, of_best) = (measured[*index], &values[best]);
        let ratio = LogRatio::paired(&values[*index], of_best).ok()?;
        let interval = ratio.interval(CONFIDENCE).map(Into::into);
        let (first, last) = ranked.places[*index];
        let sets = ranked.groups.iter().enumerate();
        let sets = sets.filter(|(_, group)| group.contains(index)).map(|(set, _)| set + 1);
        let levels = schedule.treatments[treatment].levels.clone();
        Some(RankedTreatment {
            ratio: ratio.ratio(),
            interval: interval.filter(|_| *index != best),
            first,
            last,
            sets: sets.collect(),
            best_in: best_in.get(&treatment).cloned().unwrap_or_default(),
            goes_on: next.as_ref().map(|next| {
                // The next step may give it other levels of the factors that this step fixes.
                let keeps = own.map(|own| without(&levels, &own.only)).unwrap_or_default();
                next.iter().any(|other| schedule.treatments[*other].levels.matches(&keeps))
            }),
            levels,
        })
    };
    Some(StepRanking {
        step: own.map(|step| step.name.clone()),
        metric: by.metric,
        phases: by.phases.clone(),
        n: values[best].len(),
        places: ranked.order.iter().map(place).collect::<Option<_>>()?,
    })
}

/// The steps that have measured treatments which cannot be ranked, and why.
pub(super) fn unranked(schedule: &Schedule, blocks: &Blocks<'_>) -> Vec<Warning> {
    let Some(by) = &schedule.ranking else { return Vec::new() };
    let quantity = Quantity { metric: by.metric, phases: &by.phases };
    let note = |step: usize| {
        let (measured, values) =
            measured(blocks, quantity, &candidates(schedule, blocks, step), step);
        if measured.is_empty() || ranked(&values, by.metric).is_some() {
            return None;
        }
        let own = schedule.steps.get(step);
        let of_step = own.map_or_else(String::new, |own| format!(" of `{}`", own.name));
        let why = match values[0].len() {
            0 => "no block measured all treatments",
            _ => "it is not above 0 in every trial",
        };
        let so = own.and_then(|own| own.keep).map_or("", |_| ", so all that were measured go on");
        let text = format!("no ranking{of_step} by {}: {why}{so}", by.metric);
        Some(Warning::Note { text })
    };
    (0..schedule.blocks().len()).filter_map(note).collect()
}

/// The treatments that a step has measured, and their values in common blocks.
fn measured(
    blocks: &Blocks<'_>,
    quantity: Quantity<'_>,
    treatments: &[usize],
    step: usize,
) -> (Vec<usize>, Vec<Vec<f64>>) {
    let count = |treatment: usize| blocks.of_step(quantity, &[treatment], step)[0].len();
    let most = treatments.iter().map(|treatment| count(*treatment)).max().unwrap_or(0);
    // A treatment that failed in a block removes the block for all others, so one that failed
    // often is left out.
    let often = |treatment: &usize| most > 0 && 2 * count(*treatment) > most;
    let measured: Vec<usize> = treatments.iter().copied().filter(often).collect();
    let values = blocks.of_step(quantity, &measured, step);
    (measured, values)
}

/// Ranks by a metric; `None` if a value has no logarithm.
fn ranked(values: &[Vec<f64>], metric: Metric) -> Option<ssdlab_stats::RankEstimate> {
    let is_higher = metric.better == Better::More;
    let better = |value: &f64| if is_higher { *value } else { 1.0 / value };
    let values: Vec<Vec<f64>> = values.iter().map(|own| own.iter().map(better).collect()).collect();
    ssdlab_stats::RankEstimate::of(&values, CONFIDENCE).ok()
}

/// The phases in which each treatment may be the first.
fn best_in(
    blocks: &Blocks<'_>,
    treatments: &[usize],
    quantity: Quantity<'_>,
    step: usize,
) -> BTreeMap<usize, Vec<String>> {
    let mut best: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for phase in quantity.phases {
        let one = Quantity { phases: std::slice::from_ref(phase), ..quantity };
        let values = blocks.of_step(one, treatments, step);
        let Some(ranked) = ranked(&values, quantity.metric) else { continue };
        for (treatment, (first, _)) in treatments.iter().zip(ranked.places) {
            if first == 1 {
                best.entry(*treatment).or_default().push(phase.clone());
            }
        }
    }
    best
}

/// The treatments that take part in a step, once the steps before it are over.
pub fn taking_part(schedule: &Schedule, records: &[Record], step: usize) -> Vec<usize> {
    candidates(schedule, &Blocks::of(schedule, records), step)
}

fn candidates(schedule: &Schedule, blocks: &Blocks<'_>, step: usize) -> Vec<usize> {
    let mut left: Vec<usize> = (0..schedule.treatments.len()).collect();
    let levels = |treatment: &usize| &schedule.treatments[*treatment].levels;
    for (index, earlier) in schedule.steps.iter().enumerate().take(step) {
        let Some(keep) = earlier.keep else { continue };
        let in_step: Vec<usize> =
            left.iter().copied().filter(|t| schedule.is_of_step(*t, index)).collect();
        let kept = best_levels(schedule, blocks, &in_step, index, keep);
        let kept: Vec<Levels> = kept.iter().map(|t| without(levels(t), &earlier.only)).collect();
        left.retain(|treatment| kept.iter().any(|part| levels(treatment).matches(part)));
    }
    left.retain(|treatment| schedule.is_of_step(*treatment, step));
    left
}

/// The best levels of a factor among some treatments, for each combination of the others.
fn best_levels(
    schedule: &Schedule,
    blocks: &Blocks<'_>,
    treatments: &[usize],
    step: usize,
    keep: Keep,
) -> Vec<usize> {
    let Some(by) = &schedule.ranking else { return treatments.to_vec() };
    let quantity = Quantity { metric: by.metric, phases: &by.phases };
    let (measured, values) = measured(blocks, quantity, treatments, step);
    // What cannot be ranked is not selected from.
    let Some(ranked) = ranked(&values, by.metric) else { return measured };
    let mut kept: BTreeMap<Levels, Vec<usize>> = BTreeMap::new();
    for index in ranked.order {
        let levels = &schedule.treatments[measured[index]].levels;
        let others = levels.only(|factor| *factor != keep.factor);
        let group = kept.entry(others).or_default();
        if group.len() < keep.count {
            group.push(measured[index]);
        }
    }
    kept.into_values().flatten().collect()
}

/// Levels without those that a step fixes.
fn without(levels: &Levels, fixed: &Levels) -> Levels {
    levels.only(|factor| !fixed.0.contains_key(factor))
}
