//! Defines errors in the data of tracefs.

use thiserror::Error;

/// Why the kernel's events cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum FtraceError {
    /// The description of a layout lacks a required part.
    #[error(
        "tracefs describes {file} without {what}, which is needed; use another kernel, or measure \
         without request recording"
    )]
    Undescribed {
        /// The file below `events`.
        file: &'static str,
        /// The field or line that it lacks.
        what: &'static str,
    },
    /// The description of a layout is invalid.
    #[error(
        "tracefs describes {what} of {file} as {found}, not {expected}; use another kernel, or \
         measure without request recording"
    )]
    Misdescribed {
        /// The file below `events`.
        file: &'static str,
        /// Which field or line.
        what: &'static str,
        /// What is valid.
        expected: &'static str,
        /// What it is, escaped and shortened.
        found: String,
    },
    /// A sub-buffer or one of its records contradicts the description.
    #[error(
        "{what} of a trace's sub-buffer is {found}, not {expected}; the requests before it are \
         valid: measure again"
    )]
    Malformed {
        /// Which part of it.
        what: &'static str,
        /// What is valid.
        expected: &'static str,
        found: String,
    },
}

impl FtraceError {
    pub(super) fn malformed(what: &'static str, expected: &'static str, found: usize) -> Self {
        Self::Malformed { what, expected, found: found.to_string() }
    }
}
