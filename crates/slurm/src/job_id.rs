//! The id of a job.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

/// The id of a job, or of a job array. It is always numeric: it ends up in program arguments, file
/// names and the scripts of other jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(into = "String")]
#[schemars(with = "String")]
pub struct JobId(u32);

impl JobId {
    /// Parses a text that is an id and nothing else: digits, the first of which is not 0.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let number: u32 = text.parse().ok()?;
        (number.to_string() == text).then_some(Self(number))
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<JobId> for String {
    fn from(id: JobId) -> Self {
        id.to_string()
    }
}

#[cfg(test)]
mod tests;
