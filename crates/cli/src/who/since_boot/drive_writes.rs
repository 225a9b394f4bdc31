//! What was written to drives since boot: the JSON of `ssdlab who`, from which every other form is
//! made.

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_host::cgroup_io::IoAccounting;
use ssdlab_host::cgroup_name::CgroupKind;
use ssdlab_host::process_io::LivingWrites;
use ssdlab_host::wear::DriveWear;
use ssdlab_host::whole_disk::{DiskFilesystem, DiskKind};

/// The version of the `--json` output.
pub const SINCE_BOOT_SCHEMA: u32 = 1;

/// What was written to drives since boot.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SinceBoot {
    /// The version of this format.
    pub schema: u32,
    /// The kernel's version.
    pub kernel: String,
    /// Seconds since boot, those in suspend included.
    pub uptime_seconds: u64,
    /// Whether root of the machine asked, who may read everything.
    pub is_root: bool,
    /// Whether the kernel counts what services write.
    pub accounting: IoAccounting,
    /// Whether this process sees only a part of the machine's cgroups, as in a container.
    pub sees_part_of_cgroups: bool,
    /// How to have the kernel count what services write; absent where it does, or cannot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_on: Option<String>,
    /// Whether smartctl is there, by which drives without NVM Express are asked for their own logs.
    pub has_smartctl: bool,
    /// The drives, by name.
    pub devices: Vec<DriveSinceBoot>,
    /// What living processes wrote, on all devices together.
    pub living: LivingWrites,
}

/// When a drive's counters began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CountedSince {
    /// With the machine.
    Boot,
    /// When the drive was connected.
    Connected,
}

/// What is to be done about a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WearAdvice {
    /// It lasts.
    NothingToDo,
    /// It does not last: see what writes.
    SeeWhoWrites,
    /// It is at the end of its life.
    Replace,
    /// Too little is known.
    Unknown,
}

/// How long a drive lasts at its rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum YearsLeft {
    /// What is left of the bytes that it is rated for.
    RatingLeft {
        /// Years from now.
        years: f64,
    },
    /// All bytes that it is rated for; what is used of them is not known.
    Rating {
        /// Years from new.
        years: f64,
    },
    /// At least, by the used share that the drive states, and the bytes written in its life.
    UsedShare {
        /// Years from now.
        years: f64,
    },
    /// From new, if it were rated as low as the lowest rating known: 200 times its size.
    LowestRating {
        /// Years from new.
        years: f64,
    },
}

/// What was written to a drive since boot.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DriveWrites")]
pub struct DriveSinceBoot {
    /// The kernel's name (`nvme0n1`).
    pub device: String,
    /// What it is.
    pub device_kind: DiskKind,
    /// Its model; for a loop device the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// When the counters began.
    pub since: CountedSince,
    /// For how many seconds they have counted, suspend included; absent if that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u64>,
    /// Whether the counters count: `queue/iostats` turns them off.
    pub is_counting: bool,
    /// Bytes written.
    pub counter_bytes: u64,
    /// Those of the rows.
    pub attributed_bytes: u64,
    /// The others: journal, metadata, swap, what was written before cgroups were counted, and what
    /// cgroups wrote that are gone.
    pub unseen_bytes: u64,
    /// Bytes written by the day; absent for less than an hour, and if the counters stand still.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_per_day: Option<f64>,
    /// Write requests.
    pub write_requests: u64,
    /// Bytes discarded, which are not among those written.
    pub discarded_bytes: u64,
    /// Discard requests.
    pub discard_requests: u64,
    /// Flushes.
    pub flushes: u64,
    /// Who wrote, the largest first.
    pub rows: Vec<ServiceRow>,
    /// The partition that was named or is mounted, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub named: Option<NamedPartition>,
    /// The filesystems on it, also those on devices above.
    pub filesystems: Vec<DiskFilesystem>,
    /// The devices above it, such as LUKS, LVM and loop devices, and what was written to them.
    pub above: Vec<StackedDevice>,
    /// The devices below it, if it is such a device itself.
    pub layers: Vec<StackedDevice>,
    /// Its wear, as far as it is told.
    pub wear: DriveWear,
    /// The bytes that its maker rates it for, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rated_bytes: Option<u64>,
    /// How long it lasts at this rate; absent for less than a day, and for what does not wear.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub life: Option<YearsLeft>,
    /// What is to be done.
    pub advice: WearAdvice,
}

/// What a service, a container or the like wrote to a drive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "WriterRow")]
pub struct ServiceRow {
    /// Its name for people.
    pub service: String,
    /// What it is.
    pub service_kind: CgroupKind,
    /// Its cgroup.
    pub cgroup: String,
    /// Bytes written since it was started.
    pub bytes: u64,
}

/// A partition.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NamedPartition {
    /// The kernel's name.
    pub device: String,
    /// Bytes written to it.
    pub bytes: u64,
}

/// A device above or below another.
#[derive(Debug, Serialize, JsonSchema)]
pub struct StackedDevice {
    /// The kernel's name.
    pub device: String,
    /// What it is.
    pub device_kind: DiskKind,
    /// Its own name, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Bytes written to it; to a loop device, those to every file that was attached since boot.
    pub bytes: u64,
}
