//! Results: the record of a trial, and the folder with the records of a run.

mod attempt_id;
mod attempts;
mod baseline;
pub mod classification;
mod error;
mod flat;
pub mod import;
mod ledger;
mod lines;
mod metrics;
mod paths;
mod record;
mod repeat;
mod store;
mod work;

pub use ssdlab_host::meter::smart::Smart;

pub use attempt_id::AttemptId;
pub use attempts::UnmergedRecords;
pub use baseline::{BASELINE_SCHEMA, Baseline, PhaseCost, TreatmentCost, UNMOUNTING};
pub use error::StoreError;
pub use ledger::{
    ByCause, ByKind, ByLayer, ByProgram, KindWrites, LayerWrites, Ledger, ProgramBytes,
};
pub use lines::fuzz_records;
pub use paths::{ATTEMPTS, REQUEST_LOGS, default_folder, is_of_a_run, is_run, runs_in};
pub use record::Executed;
pub use record::{
    AgeingRecord, Attempt, DriveCourse, Ending, Imported, PhaseRecord, RECORD_SCHEMA, Record,
    StatedMethod, Teardown, TrialStatus,
};
pub use repeat::{
    AtRisk, ChangedInput, CourseEvent, CourseEventKind, FileAfter, REPEAT_SCHEMA, RepeatedCut,
    RequestAtRisk, SHRINK_SCHEMA, Shrink,
};
pub use repeat::{CrashCause, TriedRemedy};
pub use repeat::{DEVICE_CUT_SCHEMA, DeviceCase, DeviceCut};
pub use ssdlab_workload::engine::EngineSeries;
pub use store::{RunContents, RunFolder};
pub use work::{Latency, Work};
