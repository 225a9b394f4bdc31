//! How many operations it takes until a percentile is one.
//!
//! The 99th percentile of 1,000 operations is the tenth longest. What makes operations long, such
//! as a commit, a flush or a drive's cleaning, lasts for several of them, so that these ten are of
//! one or two events, and another seed has another number. A hundred operations beyond a percentile
//! are some ten such events; were all independent, their number would still vary by a fifth (two
//! standard errors of a count).

use super::io::IoEnd;
use super::metric::Metric;
use super::schedule::{Action, Claim, Phase, Schedule};

/// The operations that must lie beyond a percentile.
const BEYOND: u64 = 100;

/// A percentile of too few operations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShortPercentile {
    pub metric: Metric,
    pub phase: String,
    pub operations: u64,
    /// The operations that would do.
    pub needed: u64,
}

/// The operations that a percentile needs; `None` if the metric is none.
fn needed(metric: Metric) -> Option<u64> {
    let one_in = [("p90_ns", 10), ("p99_ns", 100), ("p999_ns", 1_000)];
    let own = one_in
        .into_iter()
        .find(|(suffix, _)| metric.name.ends_with(suffix) && !metric.is_of_cuts());
    own.map(|(_, one_in)| one_in * BEYOND)
}

impl Schedule {
    /// The percentiles of phases that the plan is about: in its claims, or as its metrics.
    pub fn percentiles<'a>(&'a self) -> impl Iterator<Item = (String, Metric)> {
        let of_claim =
            |claim: &'a Claim| claim.phases.iter().map(move |phase| (phase.clone(), claim.metric));
        let of_claims = self.claims.iter().flat_map(of_claim);
        let of_metric =
            move |metric: Metric| self.phase_names().into_iter().map(move |phase| (phase, metric));
        let of_plan = self.metrics().flat_map(of_metric);
        of_claims.chain(of_plan).filter(|(_, metric)| needed(*metric).is_some())
    }

    /// The percentiles that are of too few operations, each once; `operations` is the number of
    /// those of a phase that a metric is over, if it is known.
    pub fn short_percentiles(
        &self,
        operations: impl Fn(&str, Metric) -> Option<u64>,
    ) -> Vec<ShortPercentile> {
        let mut short: Vec<ShortPercentile> = Vec::new();
        for (phase, metric) in self.percentiles() {
            let Some((operations, needed)) = operations(&phase, metric).zip(needed(metric)) else {
                continue;
            };
            let one = ShortPercentile { metric, phase, operations, needed };
            if operations < needed && !short.contains(&one) {
                short.push(one);
            }
        }
        short
    }

    /// The operations of a phase, as planned; `None` if the plan does not tell, or the metric is
    /// over others than the phase's own.
    pub fn planned_operations(&self, phase: &str, metric: Metric) -> Option<u64> {
        let is_it = |own: &Phase| own.name == phase && metric.name.starts_with("latency.");
        let of = |end: IoEnd| match end {
            IoEnd::Operations(operations) => Some(operations),
            IoEnd::Bytes(_) | IoEnd::Time(_) => None,
        };
        let own = (0..self.treatments.len()).flat_map(|treatment| self.phases(treatment));
        match own.into_iter().find(is_it)?.action {
            Action::Io(io) => of(io.end),
            Action::Transactions(transactions) => of(transactions.end),
            Action::Append(append) => Some(append.records.into()),
            Action::Database(database) => Some(database.commits.into()),
            _ => None,
        }
    }
}

impl std::fmt::Display for ShortPercentile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { metric, phase, operations, needed } = self;
        let beyond = operations / (needed / BEYOND);
        write!(
            f,
            "{metric} of `{phase}` is over {operations} operations, of which {beyond} are beyond \
             it: as these come in bursts, another seed may have another number; {needed} \
             operations would leave {BEYOND}"
        )
    }
}

#[cfg(test)]
mod tests;
