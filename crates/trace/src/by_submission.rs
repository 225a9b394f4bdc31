//! Sorts requests that a trace lists as they were completed by their submission.
//!
//! A request comes after all those that were completed before it, and may have been submitted
//! before them. So many lines are read ahead.

use std::collections::BTreeMap;

use crate::TraceError;
use crate::event::TraceEvent;

/// How many requests may be completed while one is in flight: more than drives queue.
const AHEAD: usize = 1 << 16;

/// Events that were read and not yet returned.
#[derive(Debug, Default)]
pub struct BySubmission {
    /// By time, and then as they were read.
    held: BTreeMap<(u64, u64), TraceEvent>,
    read: u64,
    /// How the trace ended, once it did.
    ending: Option<Result<(), TraceError>>,
}

impl BySubmission {
    /// The next event; after an error come those before it, and then the error.
    pub fn next(
        &mut self,
        mut event: impl FnMut() -> Result<Option<TraceEvent>, TraceError>,
    ) -> Result<Option<TraceEvent>, TraceError> {
        while self.ending.is_none() && self.held.len() <= AHEAD {
            match event() {
                Ok(Some(event)) => {
                    self.held.insert((event.request.submitted_ns, self.read), event);
                    self.read += 1;
                }
                Ok(None) => self.ending = Some(Ok(())),
                Err(error) => self.ending = Some(Err(error)),
            }
        }
        match (self.held.pop_first(), &mut self.ending) {
            (Some((_, event)), _) => Ok(Some(event)),
            (None, Some(ending)) => std::mem::replace(ending, Ok(())).map(|()| None),
            (None, None) => Ok(None),
        }
    }
}
