//! Whether a machine is set up right for its drives, and a drive fast enough for programs.
//!
//! Reads what sysfs, procfs and configuration files tell anyone. Nothing is written, and no device
//! is opened. Each check has the evidence for what it says beside it.

mod checks;
mod configuration;
mod demand;
mod finding;
mod machine;

pub use self::checks::examine;
pub use self::demand::{DemandOutcome, DemandVerdict, SyncedSpeed};
pub use self::finding::{AdviceGrade, CheckName, FindingState, SetupFinding};
pub use self::machine::MachinePlace;
pub use self::machine::{InspectedMachine, SpaceUse};

#[cfg(test)]
mod tests;
