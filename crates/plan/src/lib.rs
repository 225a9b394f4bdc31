//! Plans: from the TOML a person writes to a schedule in which everything is explicit.
//!
//! Pure: this room reads no file and no clock and examines no machine, so a schedule is the same
//! wherever it is made.

mod age;
mod amounts;
mod answer;
mod bonnie;
mod by_hand;
mod claims;
mod compared;
mod contents;
mod crash_test;
pub mod cuts;
pub mod database;
mod error;
mod estimate;
mod factor;
mod files;
pub mod fio_job;
mod host_model;
pub mod io;
mod known_levels;
mod lab_kind;
mod layer;
mod level_error;
mod limits;
pub mod live;
pub mod maildir;
mod measured;
pub mod metric;
mod needs;
mod node_feature;
mod order;
mod overrides;
mod percentile;
mod postponed;
mod predicted;
mod programs;
mod published;
mod question;
pub mod reading;
pub mod recordings;
mod replayed;
mod resolve;
pub mod rotation;
pub mod schedule;
mod scheduler;
mod sentence;
pub mod sequences;
mod setting;
mod setup;
pub mod shipped;
mod shown;
mod side;
mod sides;
mod simulated;
mod smaller;
mod soundness;
mod space;
mod steps;
mod system;
mod target;
mod think;
pub mod transactions;
mod treatments;
mod usual;
mod varied;
pub mod versions;
mod wording;
mod workload;
mod written;

use std::path::Path;

use serde::de::DeserializeOwned;
use ssdlab_quantity::{in_words, was_meant};

pub use age::{Age, PROFILES, Profile};
pub use answer::{Answer, AnswerBasis, AnswerVerdict, Remark};
pub use bonnie::{Bonnie, BonnieTest};
pub use crash_test::CrashTest;
pub use error::{PlanError, PlanFault};
pub use estimate::{Estimate, estimate};
pub use factor::{Factor, Levels};
pub use files::level_from;
pub use host_model::{
    Costs, HOSTS, HostModel, find as find_host, grounded_host, host_file_schema, shipped_host,
};
pub use lab_kind::{LabKind, Origin};
pub use layer::{LAYERS, Layer};
pub use level_error::LevelError;
pub use live::STRETCH;
pub use needs::differ_in_machine;
pub use overrides::Overrides;
pub use percentile::ShortPercentile;
pub use predicted::predicted;
pub use published::{Published, PublishedBasis, PublishedValue};
pub use question::{AskedFilesystem, Question, QuestionWork};
pub use resolve::check_name;
pub use schedule::Schedule;
pub use scheduler::SCHEDULERS;
pub use sentence::{ClaimFact, Sentence, SentencePart};
pub use setting::ChosenLevel;
pub use setup::{Amount, Atime, Discard, Setup};
pub use simulated::{DEFAULT_DRIVE, KernelLevel, Model, SimulatedMachine, names_file};
pub use ssdlab_quantity::{Bytes, Rate, Span, did_you_mean};
pub use system::{AddedPath, CommandSystem, FailingRequest, SyncRemedy, WriteErrors};
pub use target::{
    CAPACITY_BYTES, DRIVE_IDENTITY, DRIVE_NAME, EQUALISED, IS_BUFFERED, LAB_KERNEL, LOOP_DIRECT_IO,
    MOUNT_TYPE, NOT_EQUALISED, SLC_CACHE_BYTES, TWEAK, TWEAK_UNDO, Target, WHOLE_SLC_CACHE_BYTES,
};
pub use written::{Plan, Verb};

/// Parses the text of a plan; `file` is its name in messages.
pub fn parse(file: &str, text: &str) -> Result<Plan, PlanError> {
    parse_as(file, text)
}

fn parse_as<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, PlanError> {
    toml::from_str(text).map_err(|error| {
        let (message, at) = (in_words(error.message()), error.span());
        let help = was_meant(&message);
        PlanFault { message, at, help }.in_file(file, text)
    })
}

/// Parses a plan and resolves it into a schedule. `base` is the folder that relative paths in
/// the plan start from.
pub fn schedule(
    file: &str,
    text: &str,
    overrides: &Overrides,
    base: &Path,
) -> Result<Schedule, PlanError> {
    let mut plan = parse(file, text)?;
    plan.resolve_files(base);
    resolve::resolve(&plan, overrides, base).map_err(|fault| fault.in_file(file, text))
}
