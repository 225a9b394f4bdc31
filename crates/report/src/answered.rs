//! The analysis for programs, with the answer in words, which only reports can give.

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_advice::Analysis;
use ssdlab_plan::Schedule;

use super::answer::answer;

/// An analysis with its answer.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Answered")]
pub struct AnsweredAnalysis<'a> {
    /// The answer to the question, in one sentence: the first of every report.
    pub answer: String,
    /// The analysis.
    #[serde(flatten)]
    pub analysis: &'a Analysis,
}

impl<'a> AnsweredAnalysis<'a> {
    /// The analysis with its answer.
    #[must_use]
    pub fn new(schedule: &Schedule, analysis: &'a Analysis) -> Self {
        Self { answer: answer(schedule, analysis).sentence, analysis }
    }
}
