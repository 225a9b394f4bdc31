//! Defines a value that is not what it must be: of a shape, or of a guest's message.

use std::fmt::Display;

use thiserror::Error;

/// A value that is not what it must be.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{what} is {found}, not {expected}")]
pub struct InvalidValue {
    pub what: String,
    /// What is valid.
    pub expected: String,
    pub found: String,
}

impl InvalidValue {
    /// A value that should be `expected` and is `found`.
    pub(crate) fn new(what: &str, expected: impl Display, found: impl Display) -> Self {
        let (expected, found) = (expected.to_string(), found.to_string());
        Self { what: what.to_owned(), expected, found }
    }

    /// The same, of this message.
    pub(crate) fn of(self, message: impl Display) -> Self {
        Self { what: format!("{message}: {}", self.what), ..self }
    }
}
