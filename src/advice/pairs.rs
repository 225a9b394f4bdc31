//! Pairs values of two treatments by block.
//!
//! Only blocks in which both went well count; a block is the unit that shares seed and moment.

use std::collections::BTreeMap;

use ssdlab_stats::LogRatio;

use crate::plan::Schedule;
use crate::results::{Record, Status};

/// What a pair's value is made of: a metric over phases.
#[derive(Debug, Clone, Copy)]
pub(super) struct Quantity<'a> {
    pub metric: &'a str,
    pub phases: &'a [String],
}

/// One side of a comparison: a treatment, and the one its excess is taken over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Side {
    pub treatment: usize,
    pub excess_over: Option<usize>,
}

impl From<usize> for Side {
    fn from(treatment: usize) -> Self {
        Self { treatment, excess_over: None }
    }
}

/// Which step's blocks a comparison is taken from, where a run has steps.
///
/// A step's blocks flatter what they are chosen by, but they judge fairly what was not: a claim was
/// made before the run, so it is judged in the first step that has measured both sides, whatever
/// became of them. What is shown of each treatment is from the last: what was chosen has to do it
/// again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// The first step that has it.
    FirstStep,
    /// The last step that has it.
    LastStep,
}

/// The trials that went well, by block and treatment.
pub(super) struct Blocks<'a> {
    schedule: &'a Schedule,
    /// The trials of each block, by treatment.
    blocks: BTreeMap<u32, Vec<Option<&'a Record>>>,
}

impl<'a> Blocks<'a> {
    /// Sorts records; where a trial was recorded twice, the first counts.
    pub fn of(schedule: &'a Schedule, records: &'a [Record]) -> Self {
        let none = || vec![None; schedule.treatments.len()];
        let mut blocks = BTreeMap::new();
        for record in records.iter().filter(|record| record.status == Status::Ok) {
            let block: &mut Vec<_> = blocks.entry(record.trial.block).or_insert_with(none);
            if let Some(place) = block.get_mut(record.trial.treatment) {
                place.get_or_insert(record);
            }
        }
        Self { schedule, blocks }
    }

    /// The paired log-ratio of two sides, or why there is none.
    pub fn compare(
        &self,
        quantity: Quantity<'_>,
        side: Side,
        baseline: Side,
        which: Which,
    ) -> Result<LogRatio, String> {
        let pair = |block: &[Option<&Record>]| {
            Some((value(quantity, side, block)?, value(quantity, baseline, block)?))
        };
        let (of_side, of_baseline): (Vec<f64>, Vec<f64>) =
            self.in_step(which, pair).into_iter().unzip();
        if of_side.is_empty() {
            return Err("no block in which both sides were measured".to_owned());
        }
        let word = if side.excess_over.is_some() { "excess of " } else { "" };
        LogRatio::paired(&of_side, &of_baseline).map_err(|_| {
            format!(
                "the {word}{} is not above 0 in every trial, so there is no ratio",
                quantity.metric
            )
        })
    }

    /// Whether a trial of a treatment lacks a quantity, in the last step it was measured in.
    pub fn any_lacks(&self, quantity: Quantity<'_>, treatment: usize) -> bool {
        let trials: Vec<(usize, &Record)> = self
            .blocks
            .iter()
            .filter_map(|(number, block)| Some((self.schedule.step_of(*number), block[treatment]?)))
            .collect();
        let last = trials.last().map(|(step, _)| *step);
        let mut shown = trials.iter().filter(|(step, _)| Some(*step) == last);
        shown.any(|(_, record)| record.lacks(quantity.metric, quantity.phases))
    }

    /// The values of one side, as ratios to one unit of the metric.
    pub fn values(
        &self,
        quantity: Quantity<'_>,
        side: Side,
        which: Which,
    ) -> Result<LogRatio, String> {
        let values = self.in_step(which, |block| value(quantity, side, block));
        if values.is_empty() {
            return Err("no block in which it was measured".to_owned());
        }
        LogRatio::paired(&values, &vec![1.0; values.len()])
            .map_err(|_| format!("{} is not above 0 in every trial", quantity.metric))
    }

    /// What there is of each block of one step.
    fn in_step<T>(
        &self,
        which: Which,
        of_block: impl Fn(&[Option<&Record>]) -> Option<T>,
    ) -> Vec<T> {
        let mut found: Vec<(usize, T)> = self
            .blocks
            .iter()
            .filter_map(|(number, block)| Some((self.schedule.step_of(*number), of_block(block)?)))
            .collect();
        let ends = match which {
            Which::FirstStep => found.first(),
            Which::LastStep => found.last(),
        };
        let step = ends.map(|(step, _)| *step);
        found.retain(|(of_value, _)| Some(*of_value) == step);
        found.into_iter().map(|(_, value)| value).collect()
    }

    /// The values of several treatments in the blocks of a step in which all were measured, one
    /// list a treatment.
    pub fn of_step(
        &self,
        quantity: Quantity<'_>,
        treatments: &[usize],
        step: usize,
    ) -> Vec<Vec<f64>> {
        let mut values = vec![Vec::new(); treatments.len()];
        let is_of_step = |number: &u32| self.schedule.step_of(*number) == step;
        for (_, block) in self.blocks.iter().filter(|(number, _)| is_of_step(number)) {
            let of = |treatment: &usize| value(quantity, (*treatment).into(), block);
            if let Some(all) = treatments.iter().map(of).collect::<Option<Vec<f64>>>() {
                for (own, value) in values.iter_mut().zip(all) {
                    own.push(value);
                }
            }
        }
        values
    }
}

/// The value of one side in a block, which has a place for each treatment.
fn value(quantity: Quantity<'_>, side: Side, block: &[Option<&Record>]) -> Option<f64> {
    let of = |treatment: usize| block[treatment]?.over(quantity.metric, quantity.phases);
    let value = of(side.treatment)?;
    match side.excess_over {
        Some(other) => Some(value - of(other)?),
        None => Some(value),
    }
}
