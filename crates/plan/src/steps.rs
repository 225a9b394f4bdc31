//! The steps of a run, and how its treatments are ranked.
//!
//! A run of several steps narrows the choice: each step measures anew what the previous steps have
//! kept, so that nothing wins by the trials that selected it.

use std::ops::Range;

use super::error::PlanFault;
use super::factor::{Factor, Levels};
use super::measured::measures;
use super::metric::{self, Aggregation, Better, Metric};
use super::schedule::{Keep, Phase, Ranking, Schedule, Step};
use super::scheduler::modern;
use super::varied::VariedFactor;
use super::written::{self, Plan};

/// Resolves the steps; a plan without any has none.
pub(super) fn resolve(
    plan: &Plan,
    factors: &[VariedFactor],
    blocks: u32,
) -> Result<Vec<Step>, PlanFault> {
    let mut steps: Vec<Step> = Vec::new();
    for entry in &plan.steps {
        let written = entry.get_ref();
        let fault = |message: String, help: &str| PlanFault::at(entry.span(), message, help);
        if steps.iter().any(|earlier| earlier.name == written.name) {
            let message = format!("two steps are called `{}`", written.name);
            return Err(fault(message, "give each step a name of its own"));
        }
        let only = modern(&written.only);
        for (factor, level) in &only.0 {
            check(factors, *factor, Some(level)).map_err(|message| {
                fault(format!("step `{}`: {message}", written.name), "name what the plan varies")
            })?;
        }
        let keep = keep(written, factors).map_err(|message| {
            fault(
                format!("step `{}`: {message}", written.name),
                "for example keep = { filesystem = 3 }",
            )
        })?;
        let first_block = steps.last().map_or(0, |last| last.first_block + last.blocks);
        steps.push(Step { name: written.name.clone(), first_block, blocks, only, keep });
    }
    if let Some(entry) = plan.steps.split_last().map(|(last, _)| last)
        && entry.get_ref().keep.is_some()
    {
        let message = "the last step has a `keep`, but no step follows it".to_owned();
        return Err(PlanFault::at(entry.span(), message, "remove its `keep`"));
    }
    Ok(steps)
}

fn keep(written: &written::WrittenStep, factors: &[VariedFactor]) -> Result<Option<Keep>, String> {
    let Some(keep) = &written.keep else { return Ok(None) };
    let mut kept = keep.iter();
    let (Some((factor, count)), None) = (kept.next(), kept.next()) else {
        return Err("`keep` takes the best levels of one factor".to_owned());
    };
    if *count == 0 {
        return Err(format!("it keeps zero levels of `{factor}`"));
    }
    check(factors, *factor, None)?;
    Ok(Some(Keep { factor: *factor, count: *count }))
}

fn check(factors: &[VariedFactor], factor: Factor, level: Option<&String>) -> Result<(), String> {
    let varied = factors.iter().find(|varied| varied.factor == factor);
    let varied = varied.ok_or_else(|| format!("the plan does not vary `{factor}`"))?;
    match level {
        Some(level) if varied.lacks(level) => {
            Err(format!("`{level}` is not one of the plan's levels of `{factor}`"))
        }
        _ => Ok(()),
    }
}

/// Resolves the ranking of treatments: a plan with steps ranks them, by default by its own metric
/// over all phases.
pub(super) fn ranking(plan: &Plan, schedule: &Schedule) -> Result<Option<Ranking>, PlanFault> {
    let phases = schedule.phase_names();
    let Some(entry) = &plan.ranking else {
        let Some(first) = plan.steps.first() else { return Ok(None) };
        let metric = schedule.metric;
        check_direction(metric, first.span())?;
        let phases = measured(schedule, metric, phases);
        return Ok(Some(Ranking { metric, phases }));
    };
    let fault = |message: String, help: String| PlanFault::at(entry.span(), message, help);
    let written = entry.get_ref();
    let named = written.metric.as_deref().unwrap_or(schedule.metric.name);
    let metric = metric::of_phases(named).map_err(|(message, help)| fault(message, help))?;
    check_direction(metric, entry.span())?;
    let all = || measured(schedule, metric, phases.clone());
    let ranked = written.phases.clone().unwrap_or_else(all);
    if let Some(phase) = ranked.iter().find(|phase| !phases.contains(phase)) {
        let message = format!("there is no phase `{phase}`");
        return Err(fault(message, format!("phases: {}", phases.join(", "))));
    }
    if ranked.is_empty() || (ranked.len() > 1 && metric.together == Aggregation::Never) {
        let message = format!("cannot rank by `{metric}` over {} phases", ranked.len());
        return Err(fault(message, "name one phase".to_owned()));
    }
    Ok(Some(Ranking { metric, phases: ranked }))
}

/// These phases without those that cannot measure a metric.
fn measured(schedule: &Schedule, metric: Metric, mut phases: Vec<String>) -> Vec<String> {
    let planned = &schedule.workload.phases;
    let lacks = |phase: &Phase| !measures(phase, metric);
    phases.retain(|name| !planned.iter().any(|phase| phase.name == *name && lacks(phase)));
    phases
}

fn check_direction(metric: Metric, at: Range<usize>) -> Result<(), PlanFault> {
    if metric.better == Better::Neither {
        let message = format!("neither more nor less of `{metric}` is better");
        return Err(PlanFault::at(at, message, "rank by another metric: [ranking] metric"));
    }
    Ok(())
}

impl Schedule {
    /// The blocks of each step; all of them if there are no steps.
    pub fn blocks(&self) -> Vec<Range<u32>> {
        let range = |step: &Step| step.first_block..step.first_block + step.blocks;
        let only = self.steps.is_empty().then_some(0..self.repetitions.most);
        self.steps.iter().map(range).chain(only).collect()
    }

    /// The step a block belongs to, from 0.
    pub fn step_of(&self, block: u32) -> usize {
        let begun = self.steps.iter().take_while(|step| step.first_block <= block).count();
        begun.saturating_sub(1)
    }

    /// Whether a treatment can be in a step, whatever the previous steps keep.
    pub fn is_of_step(&self, treatment: usize, step: usize) -> bool {
        let step = self.steps.get(step);
        step.is_none_or(|step| self.treatments[treatment].levels.matches(&step.only))
    }

    /// The minimum number of trials of a run, if every treatment can run.
    pub fn expected_trials(&self) -> usize {
        let steps = 0..self.steps.len().max(1);
        let treatments: usize = steps.map(|step| self.expected_treatments(step)).sum();
        treatments * self.repetitions.least as usize
    }

    /// The number of treatments of a step, if each previous step keeps as many as planned.
    pub fn expected_treatments(&self, step: usize) -> usize {
        let of_step: Vec<&Levels> = (0..self.treatments.len())
            .filter(|treatment| self.is_of_step(*treatment, step))
            .map(|treatment| &self.treatments[treatment].levels)
            .collect();
        let mut expected = of_step.len();
        for keep in self.steps.iter().take(step).filter_map(|step| step.keep) {
            let mut levels: Vec<_> =
                of_step.iter().map(|levels| levels.0.get(&keep.factor)).collect();
            levels.sort_unstable();
            levels.dedup();
            expected = (expected * keep.count.min(levels.len())).div_ceil(levels.len().max(1));
        }
        expected
    }
}

#[cfg(test)]
mod tests;
