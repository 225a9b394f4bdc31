//! The ids of attempts.

use std::fmt;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The unique id of an attempt: the number of shares and the share, `SHARES_SHARE`, and for a share
/// that was started again the number of the start, `SHARES_SHARE_START`. In runs that an earlier
/// version submitted to Slurm, the first two are the array job and its task.
///
/// It is always numeric, because it ends up in paths. Of a share, the first attempt is the least.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct AttemptId {
    shares: u32,
    share: u32,
    /// From 2; `None` for the first.
    start: Option<u32>,
}

impl AttemptId {
    /// The first attempt at a share, of so many.
    pub fn of_share(share: u32, shares: u32) -> Self {
        Self { shares, share, start: None }
    }

    /// Parses a text that is an id and nothing else.
    pub fn read(text: &str) -> Option<Self> {
        let mut parts = text.split('_').map(|part| part.parse().ok());
        let (shares, share) = (parts.next()??, parts.next()??);
        let start = match parts.next() {
            Some(start) => Some(start?),
            None => None,
        };
        let id = Self { shares, share, start };
        (id.to_string() == text).then_some(id)
    }

    /// The attempt that a file is named after, if any.
    pub fn of_file(path: &Path) -> Option<Self> {
        Self::read(path.file_stem()?.to_str()?)
    }

    /// The same share, at its start of this number.
    #[must_use]
    pub fn again(self, start: u32) -> Self {
        Self { start: Some(start), ..self }
    }

    /// The first attempt at the same share.
    #[must_use]
    pub fn first(self) -> Self {
        Self { start: None, ..self }
    }
}

impl fmt::Display for AttemptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { shares, share, start } = self;
        write!(f, "{shares}_{share}")?;
        start.map_or(Ok(()), |start| write!(f, "_{start}"))
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
                "`{text}` is not an attempt id: expected SHARES_SHARE or SHARES_SHARE_START, in \
                 digits"
            )
        };
        Self::read(&text).ok_or_else(expected)
    }
}

#[cfg(test)]
mod tests;
