//! Pairs values of two treatments by block.
//!
//! Only blocks in which both went well count; a block is the unit that shares seed and moment.

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

/// The paired log-ratio of two sides, or why there is none.
pub(super) fn compare(
    records: &[Record],
    quantity: Quantity<'_>,
    side: Side,
    baseline: Side,
) -> Result<LogRatio, String> {
    let blocks = records.iter().map(|record| record.trial.block).max().map_or(0, |last| last + 1);
    let (mut of_side, mut of_baseline) = (Vec::new(), Vec::new());
    for block in 0..blocks {
        if let (Some(a), Some(b)) =
            (value(records, quantity, side, block), value(records, quantity, baseline, block))
        {
            of_side.push(a);
            of_baseline.push(b);
        }
    }
    if of_side.is_empty() {
        return Err("no block in which both sides were measured".to_owned());
    }
    let word = if side.excess_over.is_some() { "excess of " } else { "" };
    LogRatio::paired(&of_side, &of_baseline).map_err(|_| {
        format!("the {word}{} is not above 0 in every trial, so there is no ratio", quantity.metric)
    })
}

fn value(records: &[Record], quantity: Quantity<'_>, side: Side, block: u32) -> Option<f64> {
    let of = |treatment: usize| {
        records
            .iter()
            .find(|record| {
                record.trial.block == block
                    && record.trial.treatment == treatment
                    && record.status == Status::Ok
            })?
            .sum(quantity.metric, quantity.phases)
    };
    let value = of(side.treatment)?;
    match side.excess_over {
        Some(other) => Some(value - of(other)?),
        None => Some(value),
    }
}
