//! What the virtual lab said before a run of the live lab, beside what was measured.

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_plan::Levels;
use ssdlab_plan::metric::{self, Metric};

use super::analysis::Analysis;

/// What is predicted: a simulated drive has other times.
const PREDICTED: [&str; 3] = ["written_bytes", "flushes", "discarded_bytes"];

/// A number that was predicted before the run, and what was measured.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Prediction {
    /// The levels of the treatment.
    pub levels: Levels,
    /// The phase.
    pub phase: String,
    /// The metric.
    pub metric: Metric,
    /// What the virtual lab said.
    pub predicted: f64,
    /// The arithmetic mean over the treatment's trials.
    pub measured: f64,
}

impl Prediction {
    /// By how much it is wrong, relative to what was measured; infinite if nothing was.
    #[must_use]
    pub fn error(&self) -> f64 {
        ((self.predicted - self.measured) / self.measured).abs()
    }
}

impl Analysis {
    /// Puts what the run of a prediction found, whose treatments are the same in the same order,
    /// beside what was measured.
    pub fn add_prediction(&mut self, predicted: &Self) {
        let metrics: Vec<Metric> = PREDICTED.map(metric::of).into();
        for (own, foreseen) in self.treatments.iter().zip(&predicted.treatments) {
            for (phase, metric) in
                own.summary.iter().flat_map(|phase| metrics.iter().map(move |of| (phase, *of)))
            {
                let foreseen = foreseen.summary.iter().find(|other| other.name == phase.name);
                let mean = |phase: &super::PhaseSummary| Some(phase.metrics.get(&metric)?.mean);
                let both = foreseen.and_then(mean).zip(mean(phase));
                let Some((predicted, measured)) = both.filter(|both| *both != (0.0, 0.0)) else {
                    continue;
                };
                let (levels, phase) = (own.levels.clone(), phase.name.clone());
                self.predictions.push(Prediction { levels, phase, metric, predicted, measured });
            }
        }
    }
}
