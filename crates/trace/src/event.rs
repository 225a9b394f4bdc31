//! Defines the events of traces, of which requests are made.

use crate::{Request, Stage};

/// What happened to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// It was submitted; at this stage, in formats that tell stages apart.
    Submitted(Option<Stage>),
    /// It, or a part of it, was completed.
    Completed,
    /// The driver returned it, or the rest of it, to be issued again.
    Returned,
}

/// An event, on the clock of the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    pub step: Step,
    /// The device, in formats that tell stages apart; otherwise 0.
    pub device: u64,
    /// The request; if it was not submitted, the part concerned, with the time of the event.
    pub request: Request,
}
