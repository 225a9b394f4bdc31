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
mod tests {
    use super::*;

    #[test]
    fn an_id_is_digits() {
        assert_eq!(JobId::read("4711").unwrap().to_string(), "4711");
        for other in ["", "+7", "-7", " 7", "7\n", "07", "7;id", "$(id)", "7_0", "4294967296", "٧"]
        {
            assert_eq!(JobId::read(other), None, "{other:?}");
        }
    }
}
