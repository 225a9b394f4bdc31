//! Pairs values of two treatments by block.
//!
//! Only blocks in which both went well count; a block is the unit that shares seed and moment.

use std::collections::{BTreeMap, BTreeSet};

use ssdlab_stats::LogRatio;

use crate::results::{Record, Status};

/// What a pair's value is made of: a metric summed over phases, or its excess over a third
/// treatment.
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

/// The trials that went well, by block and treatment.
pub(super) struct Blocks<'a> {
    trials: BTreeMap<(u32, usize), &'a Record>,
    numbers: BTreeSet<u32>,
}

impl<'a> Blocks<'a> {
    /// Sorts records; where a trial was recorded twice, the first counts.
    pub fn of(records: &'a [Record]) -> Self {
        let mut trials = BTreeMap::new();
        for record in records.iter().filter(|record| record.status == Status::Ok) {
            trials.entry((record.trial.block, record.trial.treatment)).or_insert(record);
        }
        let numbers = trials.keys().map(|(block, _)| *block).collect();
        Self { trials, numbers }
    }

    /// The paired log-ratio of two sides, or why there is none.
    pub fn compare(
        &self,
        quantity: Quantity<'_>,
        side: Side,
        baseline: Side,
    ) -> Result<LogRatio, String> {
        let value = |side, block| self.value(quantity, side, block);
        let pair = |block: &u32| Some((value(side, *block)?, value(baseline, *block)?));
        let (of_side, of_baseline): (Vec<f64>, Vec<f64>) =
            self.numbers.iter().filter_map(pair).unzip();
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

    /// The values of one side, as ratios to one unit of the metric.
    pub fn values(&self, quantity: Quantity<'_>, side: Side) -> Result<LogRatio, String> {
        let values: Vec<f64> =
            self.numbers.iter().filter_map(|block| self.value(quantity, side, *block)).collect();
        if values.is_empty() {
            return Err("no block in which it was measured".to_owned());
        }
        LogRatio::paired(&values, &vec![1.0; values.len()])
            .map_err(|_| format!("{} is not above 0 in every trial", quantity.metric))
    }

    fn value(&self, quantity: Quantity<'_>, side: Side, block: u32) -> Option<f64> {
        let of = |treatment: usize| {
            self.trials.get(&(block, treatment))?.over(quantity.metric, quantity.phases)
        };
        let value = of(side.treatment)?;
        match side.excess_over {
            Some(other) => Some(value - of(other)?),
            None => Some(value),
        }
    }
}
