//! The target of a run: where its trials take place, with the parameters of that lab.

use std::path::{Path, PathBuf};

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::lab_kind::{LabKind, Origin};

/// The name under which trials record the capacity of their drive, image or device.
pub const CAPACITY_BYTES: &str = "capacity_bytes";

/// Where a trial of the live lab says which commands make the user's own change, and take it back.
pub const TWEAK: &str = "tweak";
pub const TWEAK_UNDO: &str = "tweak_undo";

/// The name under which trials record the size of their drive's SLC cache, if its capacity left it
/// only a part and they filled that.
pub const SLC_CACHE_BYTES: &str = "slc_cache_bytes";

/// The name under which these record its size on the real drive.
pub const WHOLE_SLC_CACHE_BYTES: &str = "whole_slc_cache_bytes";

/// The name under which trials record what identifies their drive, a by-id name.
pub const DRIVE_NAME: &str = "identity";

/// The name under which trials on a simulated drive record what identifies its specification.
pub const DRIVE_IDENTITY: &str = "drive_identity";

/// The name under which trials in the virtual lab record what identifies their kernel.
pub const LAB_KERNEL: &str = "lab_kernel";

/// The name under which trials record the type of their mount.
pub const MOUNT_TYPE: &str = "mount_type";

/// The name under which trials on a device record how it was brought into its first state, or
/// [`NOT_EQUALISED`].
pub const EQUALISED: &str = "equalised";

/// What trials record of a device that could not be brought into its first state.
pub const NOT_EQUALISED: &str = "no";

/// The name under which trials on an image record whether its loop device bypasses memory, or
/// [`IS_BUFFERED`].
pub const LOOP_DIRECT_IO: &str = "loop_direct_io";

/// What trials record of a loop device that does not bypass memory.
pub const IS_BUFFERED: &str = "off";

/// Where trials take place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Simulated drives.
    Virtual {
        /// The capacity in bytes that each is given; none if each has its own.
        capacity_bytes: Option<u64>,
    },
    Image {
        size_bytes: u64,
        /// The folder it is put in; none for the usual one.
        folder: Option<PathBuf>,
    },
    /// A drive or a partition.
    Device {
        /// Its node; none if each machine names its own.
        path: Option<PathBuf>,
    },
    Directory {
        path: PathBuf,
    },
    /// This machine at its own work.
    Live {
        /// A folder in the filesystem that is experimented on; none if it is not named yet.
        mount: Option<PathBuf>,
    },
}

impl Target {
    pub fn lab(&self) -> LabKind {
        match self {
            Self::Virtual { .. } => LabKind::Virtual,
            Self::Image { .. } => LabKind::Image,
            Self::Device { .. } => LabKind::Device,
            Self::Directory { .. } => LabKind::Directory,
            Self::Live { .. } => LabKind::Live,
        }
    }

    /// The place on this machine, if one is named.
    pub fn place(&self) -> Option<&Path> {
        match self {
            Self::Virtual { .. } => None,
            Self::Image { folder: place, .. }
            | Self::Device { path: place }
            | Self::Live { mount: place } => place.as_deref(),
            Self::Directory { path } => Some(path),
        }
    }

    /// The size in bytes that devices are given; none if they have their own.
    pub fn size_bytes(&self) -> Option<u64> {
        match self {
            Self::Virtual { capacity_bytes } => *capacity_bytes,
            Self::Image { size_bytes, .. } => Some(*size_bytes),
            Self::Device { .. } | Self::Directory { .. } | Self::Live { .. } => None,
        }
    }
}

/// A target as `schedule.json` has it: the keys of all labs side by side. An imported run has none,
/// and its origin in place of the lab.
#[derive(Serialize, Deserialize)]
struct Stored {
    lab: Origin,
    /// 0 if there is no image.
    size_bytes: u64,
    device: Option<PathBuf>,
    directory: Option<PathBuf>,
    #[serde(default)]
    capacity_bytes: Option<u64>,
}

/// Writes the target of a schedule.
#[expect(clippy::ref_option, reason = "serde calls it with a reference to the field")]
pub(super) fn serialize<S: Serializer>(
    target: &Option<Target>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let lab = target.as_ref().map_or(Origin::Imported, |target| Origin::Lab(target.lab()));
    let nothing =
        Stored { lab, size_bytes: 0, device: None, directory: None, capacity_bytes: None };
    let stored = match target.clone() {
        None => nothing,
        Some(Target::Virtual { capacity_bytes }) => Stored { capacity_bytes, ..nothing },
        Some(Target::Image { size_bytes, folder }) => {
            Stored { size_bytes, directory: folder, ..nothing }
        }
        Some(Target::Device { path }) => Stored { device: path, ..nothing },
        Some(Target::Directory { path }) => Stored { directory: Some(path), ..nothing },
        Some(Target::Live { mount }) => Stored { directory: mount, ..nothing },
    };
    stored.serialize(serializer)
}

/// Reads the target of a schedule. Older ones have a size and a capacity in every lab.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Target>, D::Error> {
    let Stored { lab, size_bytes, device, directory, capacity_bytes } =
        Stored::deserialize(deserializer)?;
    let Origin::Lab(lab) = lab else { return Ok(None) };
    Ok(Some(match lab {
        LabKind::Virtual => Target::Virtual { capacity_bytes },
        LabKind::Image => Target::Image { size_bytes, folder: directory },
        LabKind::Device => Target::Device { path: device },
        LabKind::Live => Target::Live { mount: directory },
        LabKind::Directory => Target::Directory {
            path: directory.ok_or_else(|| D::Error::missing_field("directory"))?,
        },
    }))
}

#[cfg(test)]
mod tests;
