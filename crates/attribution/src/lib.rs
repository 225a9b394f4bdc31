//! Who caused what this machine writes to its devices: records the kernel's events for `causes`,
//! and gives its rows the names that people know.
//!
//! | part | knows |
//! |---|---|
//! | `survey` | what is to be watched: disks, the filesystems on them, what lies above and below |
//! | `recording` | how events are recorded and fed to the watch, and the readings of counters |
//! | `phases` | the recording of an experiment, whose phases end at `marks` |
//! | `names` | what people call files and cgroups |
//! | `rows` | the rows of a device, with names |
//!
//! No device is opened for writing, and no filesystem is made.

mod marks;
mod names;
mod phases;
mod recording;
mod rows;
mod survey;

pub use marks::CauserBytes;
pub use names::Naming;
pub use phases::{PhaseRecording, Remounting};
pub use recording::{RecordingProcess, WhoRecording};
pub use rows::{CommitRow, DeviceWrites, InexactStretch, LayerCounts, WhoOutput, WriteRow};
pub use survey::{WatchSurvey, devices_of_mount};
