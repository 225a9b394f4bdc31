//! The outcome of power cuts of a device of which only a log of its requests is known.

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_operations::cuts::{CutMoment, FsckResult};

use super::repeat::AtRisk;

/// The version of what `ssdlab cut --device-log --json` prints.
pub const DEVICE_CUT_SCHEMA: u32 = 2;

/// What came of one survivor of one cut.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DeviceCase {
    /// The cut, from 0, in the order of the log.
    pub cut: u32,
    /// Which of the states that it may leave, from 0.
    pub survivor: u32,
    /// The entry of the log in which the power was cut, from 0; marks are entries.
    pub entry: u64,
    /// The last mark before that; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark: Option<String>,
    /// How the moment was chosen.
    pub moment: CutMoment,
    /// What the filesystem's own check said of it as the cut had left it, before it was mounted;
    /// absent if it has no check.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checked_before: Option<FsckResult>,
    /// Why the filesystem could not be mounted; absent if it could.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unmountable: Option<String>,
    /// How long mounting took, in ns; absent if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery_ns: Option<u64>,
    /// What the filesystem's own check found amiss after that; absent if nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amiss: Option<String>,
    /// Whether that check was not run: the filesystem has none, or the kernel had died.
    pub unchecked: bool,
}

/// One survivor of one cut, with what the drive had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DeviceCut {
    /// The version of this format.
    pub schema: u32,
    /// The outcome.
    #[serde(flatten)]
    pub case: DeviceCase,
    /// The state of the drive's requests at the cut.
    pub drive: AtRisk,
    /// The SHA-256 of what the drive holds after the cut, in hex: of its 4 KiB pages that are not
    /// all zeros, in order, each after its offset in bytes, and of the capacity after the last;
    /// both as 64 bits, little-endian.
    pub contents_sha256: String,
    /// The drive's capacity, in bytes.
    pub image_bytes: u64,
}
