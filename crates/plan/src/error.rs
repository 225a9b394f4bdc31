//! Errors in a plan, shown at their place in the file.

use std::ops::Range;
use std::sync::Arc;

use miette::{Diagnostic, NamedSource, SourceSpan};
use thiserror::Error;

/// A plan that cannot be run, with the place in the file if there is one.
#[derive(Debug, Error, Diagnostic)]
#[error("{message}")]
pub struct PlanError {
    message: String,
    #[source_code]
    source_code: Option<Arc<NamedSource<String>>>,
    #[label("here")]
    at: Option<SourceSpan>,
    #[help]
    help: Option<String>,
}

/// A fault found while resolving, before it is tied to its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanFault {
    /// What is wrong.
    pub message: String,
    /// The bytes of the file it is about.
    pub at: Option<Range<usize>>,
    /// What to do.
    pub help: Option<String>,
}

impl PlanFault {
    /// A fault at a place in the file.
    pub fn at(span: Range<usize>, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), at: Some(span), help: Some(help.into()) }
    }

    /// A fault outside the file (on the command line, say), or whose place the caller knows.
    pub fn nowhere(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), at: None, help: Some(help.into()) }
    }

    /// The fault, at a place in the file unless it has a narrower one.
    #[must_use]
    pub fn placed(self, span: Range<usize>) -> Self {
        Self { at: self.at.or(Some(span)), ..self }
    }

    /// Ties the fault to the file it was found in.
    pub fn in_file(self, file: &str, text: &str) -> PlanError {
        PlanError {
            source_code: self
                .at
                .as_ref()
                .map(|_| Arc::new(NamedSource::new(file, text.to_owned()))),
            at: self.at.map(SourceSpan::from),
            message: self.message,
            help: self.help,
        }
    }
}
