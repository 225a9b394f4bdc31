//! The metrics that tables show: those of the plan, or what the reader of a report asks for.

use std::iter;

use super::error::PlanFault;
use super::metric::{self, Metric};
use super::schedule::Schedule;
use super::written::Plan;

/// The metrics that a plan names, the first of which is its own; empty if it names none.
///
/// # Errors
///
/// If it names them in both ways, none of several, one twice, or one that phases cannot have.
pub(super) fn named(plan: &Plan) -> Result<Vec<Metric>, PlanFault> {
    let Some(several) = &plan.metrics else {
        let Some(one) = &plan.metric else { return Ok(Vec::new()) };
        let fault = |(message, help)| PlanFault::at(one.span(), message, help);
        return Ok(vec![metric::of_phases(one.get_ref()).map_err(fault)?]);
    };
    if plan.metric.is_some() {
        let message = "the plan has both `metric` and `metrics`";
        let help = "put the one first in `metrics`, and omit `metric`";
        return Err(PlanFault::at(several.span(), message, help));
    }
    if several.get_ref().is_empty() {
        let help = "name one or more, or omit it: `ssdlab list metrics` lists them";
        return Err(PlanFault::at(several.span(), "`metrics` names none", help));
    }
    let mut metrics = Vec::new();
    for name in several.get_ref() {
        let fault = |(message, help)| PlanFault::at(name.span(), message, help);
        metrics.push(next(&metrics, name.get_ref()).map_err(fault)?);
    }
    Ok(metrics)
}

/// A metric that follows others in a list. Fails with what is wrong, and what to write instead.
fn next(metrics: &[Metric], name: &str) -> Result<Metric, (String, String)> {
    let metric = metric::of_phases(name)?;
    if metrics.contains(&metric) {
        let message = format!("`{name}` is named twice");
        return Err((message, "name each metric once".to_owned()));
    }
    Ok(metric)
}

impl Schedule {
    /// With other metrics to show than the plan's, separated by commas: the first instead of it,
    /// the others beside that. The published values are about the plan's metric, so they are
    /// dropped with it. Fails with what is wrong, and what to write instead, if phases have no
    /// metric of that name.
    pub fn showing(mut self, names: &str) -> Result<Self, (String, String)> {
        let mut asked: Vec<Metric> = Vec::new();
        for name in names.split(',') {
            asked.push(next(&asked, name.trim())?);
        }
        let first = asked.remove(0);
        if self.metric != first {
            self.0.metric = first;
            self.0.published.clear();
        }
        self.0.beside = asked;
        self.0.is_asked_for = true;
        Ok(self)
    }

    /// The metrics that tables show: the plan's, and those beside it.
    pub fn metrics(&self) -> impl Iterator<Item = Metric> {
        iter::once(self.metric).chain(self.beside.iter().copied())
    }
}

#[cfg(test)]
mod tests;
