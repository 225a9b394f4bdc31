//! The outcome of an assignment, and the record that is made from it.

use std::collections::BTreeMap;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use ssdlab_flash::Draw;
use ssdlab_host::meter::block::Counters;
use ssdlab_host::meter::environment::Environment;
use ssdlab_host::meter::smart::Smart;
use ssdlab_operations::cuts::Outcome;
use ssdlab_plan::Schedule;
use ssdlab_plan::schedule::Trial;
use ssdlab_results::{Aged, DriveCourse, Phase, Record, Status, Teardown};

use super::failure::Failure;
use super::measure::nanos;

/// The measurements, with the meanings of a record's fields. A failure leaves what had been
/// measured before it.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Measured {
    pub aged: Option<Aged>,
    pub written_bytes: u64,
    pub background_written_bytes: u64,
    pub before: Option<Counters>,
    pub phases: Vec<Phase>,
    pub teardown: Option<Teardown>,
    pub drive: Option<DriveCourse>,
    #[serde(default)]
    pub cuts: Vec<Outcome>,
    pub applied: BTreeMap<String, String>,
    pub features: BTreeMap<String, String>,
    pub environment: Environment,
    pub smart: Option<[Smart; 2]>,
    pub fingerprint: Option<String>,
    #[serde(default)]
    pub draw: Option<Draw>,
}

/// The outcome of an assignment.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Performed {
    pub took: Took,
    pub measured: Measured,
    pub ended: Result<(), Failure>,
}

impl Performed {
    /// The record of the performed trial.
    pub fn record(self, schedule: &Schedule, trial: Trial) -> Record {
        let (status, reason) = match self.ended {
            Ok(()) => (Status::Ok, None),
            Err(failure) => {
                let (status, reason) = failure.told();
                (status, Some(reason))
            }
        };
        let measured = self.measured;
        Record {
            status,
            reason,
            took_ns: self.took.took_ns,
            fingerprint: measured.fingerprint,
            draw: measured.draw,
            aged: measured.aged,
            written_bytes: measured.written_bytes,
            background_written_bytes: measured.background_written_bytes,
            before: measured.before,
            phases: measured.phases,
            teardown: measured.teardown,
            drive: measured.drive,
            cuts: measured.cuts,
            applied: measured.applied,
            features: measured.features,
            environment: measured.environment,
            smart: measured.smart,
            ..Record::new(schedule, trial, self.took.started_s)
        }
    }
}

impl From<Failure> for Performed {
    /// Nothing was measured.
    fn from(failure: Failure) -> Self {
        let took = Took { started_s: seconds(), took_ns: 0 };
        Self { took, measured: Measured::default(), ended: Err(failure) }
    }
}

/// When it began, in seconds since 1970, and how long it took.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Took {
    started_s: u64,
    took_ns: u64,
}

/// A trial that is running.
#[derive(Debug)]
pub(super) struct Began {
    clock: Instant,
    started_s: u64,
}

impl Began {
    /// Starts the clock.
    pub fn now() -> Self {
        Self { clock: Instant::now(), started_s: seconds() }
    }

    /// Stops the clock.
    pub fn took(&self) -> Took {
        Took { started_s: self.started_s, took_ns: nanos(self.clock.elapsed()) }
    }
}

/// The time, in seconds since 1970.
fn seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}
