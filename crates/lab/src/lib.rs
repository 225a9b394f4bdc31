//! Labs: places to run a trial. A lab provides a new filesystem with a treatment's settings, all of
//! them read back, and removes it afterwards.
//!
//! What happens on the filesystem is up to the workload.

mod attribute;
mod blank;
mod block;
mod device;
mod directory;
mod drive;
mod error;
mod features;
mod format;
mod held;
mod image;
mod lab;
mod layer;
mod layout;
mod live;
mod mounting;
mod pool;
mod recovery;
pub mod safety;
mod settings;
mod survey;

pub use device::open as open_device;
pub use directory::open as open_directory;
pub use drive::{ExistingDrive, OtherDrive};
pub use error::LabError;
pub use features::unchecked;
pub use format::{missing, missing_in_guest};
pub use image::open as open_image;
pub use lab::{DeviceContents, Lab, MountedFs, SURVEY_TIMEOUT, Tools};
pub use layer::{DMSETUP, missing_layer};
pub use live::{Tweak, open as open_live, options_under};
pub use recovery::open as open_in_guest;
pub use recovery::{RecoveryDrive, RecoveryOutcome};
pub use survey::survey;
