//! A log of the requests to a drive, with their times.

use crate::command::{Command, SECTOR_BYTES};
use crate::units::Nanos;

/// A request in a log. One that begins with a flush (Linux's preflush) is two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoggedRequest {
    /// When it was submitted; never before the previous request.
    pub submitted: Nanos,
    /// When the drive acknowledged it; none if it never did.
    pub completed: Option<Nanos>,
    pub command: Command,
    /// Whether it is done only once its own data are safe (forced unit access).
    pub is_fua: bool,
}

/// Why a log is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RequestLogError {
    /// The requests are not in the order of submission.
    #[error("request {number} of the log was submitted before the one before it; sort the log")]
    Unsorted {
        /// Which, from 0.
        number: usize,
    },
    /// A request was done before it was submitted.
    #[error("request {number} of the log was completed before it was submitted")]
    Backwards {
        /// Which, from 0.
        number: usize,
    },
    /// A request names parts of sectors, or more of them than there can be.
    #[error("request {number} of the log is not of whole sectors of {SECTOR_BYTES} bytes")]
    Misaligned {
        /// Which, from 0.
        number: usize,
    },
}

/// Checks that a log is valid.
pub(super) fn check(log: &[LoggedRequest]) -> Result<(), RequestLogError> {
    let mut before = Nanos::ZERO;
    for (number, logged) in log.iter().enumerate() {
        if logged.submitted < before {
            return Err(RequestLogError::Unsorted { number });
        }
        before = logged.submitted;
        if logged.completed.is_some_and(|completed| completed < logged.submitted) {
            return Err(RequestLogError::Backwards { number });
        }
        if logged.command.extent().is_some_and(|extent| extent.within(u64::MAX).is_err()) {
            return Err(RequestLogError::Misaligned { number });
        }
    }
    Ok(())
}
