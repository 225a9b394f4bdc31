//! What the virtual lab said before a run of the live lab, beside what was measured.

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_plan::Levels;
use ssdlab_plan::metric::{Metric, Source};

use super::treatment::{PhaseSummary, TreatmentResult};

/// What is predicted: a simulated drive has other times.
const PREDICTED: [Source; 3] = [Source::WrittenBytes, Source::Flushes, Source::DiscardedBytes];

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
    pub fn error(&self) -> f64 {
        ((self.predicted - self.measured) / self.measured).abs()
    }
}

/// What was predicted of treatments beside what was measured: those of the prediction are the same
/// in the same order.
pub(super) fn beside(
    measured: &[TreatmentResult],
    predicted: &[TreatmentResult],
) -> Vec<Prediction> {
    let of_phase = |levels: &Levels, phase: &PhaseSummary, predicted: &PhaseSummary| {
        let both = PREDICTED.map(Metric::from).into_iter().filter_map(|metric| {
            let mean = |of: &PhaseSummary| Some(of.metrics.get(&metric)?.mean);
            let (measured, predicted) = (mean(phase)?, mean(predicted)?);
            let (levels, phase) = (levels.clone(), phase.name.clone());
            (measured.max(predicted) > 0.0).then_some(Prediction {
                levels,
                phase,
                metric,
                predicted,
                measured,
            })
        });
        both.collect::<Vec<_>>()
    };
    let treatments = measured.iter().zip(predicted);
    let phases = treatments.flat_map(|(own, predicted)| {
        let same = |phase: &PhaseSummary| predicted.summary.iter().find(|of| of.name == phase.name);
        own.summary.iter().filter_map(move |phase| Some((&own.levels, phase, same(phase)?)))
    });
    phases.flat_map(|(levels, phase, predicted)| of_phase(levels, phase, predicted)).collect()
}
