//! Errors of importing results.

use miette::Diagnostic;
use thiserror::Error;

/// A file that cannot be imported.
#[derive(Debug, Error, Diagnostic)]
#[error("{file}: {message}")]
pub struct ImportError {
    file: String,
    message: String,
    #[help]
    help: String,
}

/// What is wrong with a text, and what to do.
#[derive(Debug)]
pub(super) struct ImportFault {
    message: String,
    help: String,
}

impl ImportFault {
    pub fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: help.into() }
    }

    pub fn of(self, file: &str) -> ImportError {
        ImportError { file: file.to_owned(), message: self.message, help: self.help }
    }
}
