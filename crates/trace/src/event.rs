//! Defines the events of traces, of which requests are made.

use std::fmt;

use crate::Request;

/// The stage of the Linux block layer at which requests are observed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TraceStage {
    /// As the drive receives them: merged, split, and in issue order.
    ///
    /// A request that the driver returned, as when the drive is busy, is one request: from its last
    /// issue.
    #[default]
    Issued,
    /// As a filesystem or program submitted them.
    ///
    /// Drivers without a request queue (device mapper, md, zram) report only these.
    Queued,
}

impl TraceStage {
    pub(crate) fn other(self) -> Self {
        match self {
            Self::Issued => Self::Queued,
            Self::Queued => Self::Issued,
        }
    }
}

impl fmt::Display for TraceStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Issued => "issued",
            Self::Queued => "queued",
        })
    }
}

/// What happened to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceStep {
    /// It was submitted; at this stage, in formats that tell stages apart.
    Submitted(Option<TraceStage>),
    /// It, or a part of it, was completed.
    Completed,
    /// The driver returned it, or the rest of it, to be issued again.
    Returned,
}

/// An event, on the clock of the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceEvent {
    pub step: TraceStep,
    /// The device, in formats that tell stages apart; otherwise 0.
    pub device: u64,
    /// The request; if it was not submitted, the part concerned, with the time of the event.
    pub request: Request,
}
