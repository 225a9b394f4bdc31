//! How a question is answered, once a plan is resolved.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::sentence::Sentence;

/// How a question is answered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Answer {
    /// The ids of the claims that decide, in the order of the plan.
    pub decides: Vec<String>,
    /// What to say, by verdict; generated where there is none.
    pub says: BTreeMap<AnswerVerdict, Sentence>,
    /// More sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Remark>,
    /// Why the answer is not evidence by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rests_on: Option<AnswerBasis>,
    /// The claims whose sides the answer's chart shows; those that decide, if it is empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub chart: Vec<String>,
    /// Names of levels, phases and metrics for readers, in the answer and its chart.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

/// Reads an answer. Earlier releases stored the claims that decide, and nothing else.
pub(super) fn stored<'de, D: Deserializer<'de>>(stored: D) -> Result<Answer, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Stored {
        Decides(Vec<String>),
        Table(Answer),
    }
    Ok(match Stored::deserialize(stored)? {
        Stored::Decides(decides) => Answer { decides, ..Answer::default() },
        Stored::Table(answer) => answer,
    })
}

impl Answer {
    /// Whether it has nothing that a run of an earlier release would not have.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The claims whose sides its chart shows.
    pub fn charted(&self) -> &[String] {
        if self.chart.is_empty() { &self.decides } else { &self.chart }
    }

    /// Whether it names the best of a ranking.
    pub fn names_best(&self) -> bool {
        self.says.values().any(Sentence::names_best)
    }
}

/// What became of a question.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum AnswerVerdict {
    /// All claims that decide hold.
    Yes,
    /// All are refuted.
    No,
    /// Some hold, others are refuted.
    InPart,
    /// One or more hold on some drives like the one in question only.
    Depends,
    /// One or more have no verdict yet.
    Undecided,
    /// Nothing that decides could be tested.
    Untested,
    /// The question asks for something other than yes or no.
    Answered,
}

/// A sentence of the answer that is said under a condition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remark {
    pub says: Sentence,
    /// The claims that must hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holds: Vec<String>,
    /// The claims that must be refuted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refuted: Vec<String>,
}

/// Why agreement of a model with a claim is no evidence for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerBasis {
    /// The model was fitted to the very numbers.
    Reproduced(String),
    /// It follows from an assumption of the model.
    Assumed(String),
}
