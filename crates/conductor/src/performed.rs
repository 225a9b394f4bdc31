//! The outcome of an assignment, and the record that is made from it.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use ssdlab_plan::schedule::Trial;
use ssdlab_plan::{Schedule, Span};
use ssdlab_results::{Record, TrialStatus};

use super::failure::Failure;

/// The outcome of an assignment.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TrialOutcome {
    /// The measurements, of no trial yet. A failure leaves what had been measured before it.
    pub measured: Record,
    pub ended: Result<(), Failure>,
}

impl TrialOutcome {
    pub fn record(self, schedule: &Schedule, trial: Trial) -> Record {
        let (status, reason) = match self.ended {
            Ok(()) => (TrialStatus::Ok, None),
            Err(failure) => {
                let (status, reason) = failure.status_and_reason();
                (status, Some(reason))
            }
        };
        Record { status, reason, ..self.measured.for_trial(schedule, trial) }
    }
}

impl From<Failure> for TrialOutcome {
    /// Nothing was measured.
    fn from(failure: Failure) -> Self {
        let measured = Record { started_s: seconds(), ..Record::default() };
        Self { measured, ended: Err(failure) }
    }
}

/// A trial that is running.
#[derive(Debug)]
pub(super) struct TrialTimer {
    clock: Instant,
    started_s: u64,
}

impl TrialTimer {
    /// Starts the clock.
    pub fn now() -> Self {
        Self { clock: Instant::now(), started_s: seconds() }
    }

    /// Stops the clock.
    pub fn time(&self, measured: &mut Record) {
        measured.started_s = self.started_s;
        measured.took_ns = Span(self.clock.elapsed()).nanos();
    }
}

/// The time, in seconds since 1970.
fn seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}
