//! The ids of attempts.

use std::fmt;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The unique id of an attempt: Slurm's array job and element, `JOB_ELEMENT`, and for a restarted
/// element the number of the start, `JOB_ELEMENT_TIME`.
///
/// It is always numeric, because it ends up in paths and scripts. Ids are ordered by submission.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct AttemptId {
    job: u32,
    element: u32,
    /// The number of the start, from 2; `None` for the first.
    time: Option<u32>,
}

impl AttemptId {
    /// Parses a text that is an id and nothing else.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let mut parts = text.split('_').map(|part| part.parse().ok());
        let (job, element) = (parts.next()??, parts.next()??);
        let time = match parts.next() {
            Some(time) => Some(time?),
            None => None,
        };
        let id = Self { job, element, time };
        (id.to_string() == text).then_some(id)
    }

    /// The attempt that a file is named after, if any.
    #[must_use]
    pub fn of_file(path: &Path) -> Option<Self> {
        Self::read(path.file_stem()?.to_str()?)
    }

    /// The same element, at its start of this number.
    #[must_use]
    pub fn again(self, time: u32) -> Self {
        Self { time: Some(time), ..self }
    }

    /// The first attempt at the same element.
    #[must_use]
    pub fn first(self) -> Self {
        Self { time: None, ..self }
    }
}

impl fmt::Display for AttemptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { job, element, time } = self;
        write!(f, "{job}_{element}")?;
        time.map_or(Ok(()), |time| write!(f, "_{time}"))
    }
}

impl From<AttemptId> for String {
    fn from(id: AttemptId) -> Self {
        id.to_string()
    }
}

impl TryFrom<String> for AttemptId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let expected = || {
            format!(
                "`{text}` is not an attempt id: expected JOB_ELEMENT or JOB_ELEMENT_TIME, in digits"
            )
        };
        Self::read(&text).ok_or_else(expected)
    }
}

#[cfg(test)]
mod tests;
