//! The levels that factors have, in words.

use ssdlab_filesystem::{self as filesystem, Filesystem, Setting};
use ssdlab_quantity::grouped;

use super::age::PROFILES;
use super::factor::{DEFAULT, Factor};
use super::host_model::HOSTS;
use super::layer::LAYERS;
use super::level_error::{SWITCH, named};
use super::scheduler::{SCHEDULERS, queue_levels};
use super::setup::{ATIMES, DISCARDS, WRITEBACK};
use super::simulated::{DEFAULT_DRIVE, FLUSHES, POWER_FAULTS};

impl Factor {
    /// Its levels, for people.
    pub fn levels(self) -> String {
        match self {
            Self::Filesystem => filesystem::names().join(", "),
            Self::FilesystemDriver => "ext2, ext4 (which can both mount ext2)".to_owned(),
            Self::Journal => format!("{} (ext4)", named(&SWITCH, ", ")),
            Self::Checksums => settings(|filesystem| &filesystem.checksums),
            Self::Compression => settings(|filesystem| &filesystem.compression),
            Self::Atime => named(&ATIMES, ", "),
            Self::Discard => named(&DISCARDS, ", "),
            Self::Scheduler => SCHEDULERS.join(", "),
            Self::SchedulerTunables => {
                format!("{DEFAULT}, or kernel tunables with numbers (\"read_expire=100\")")
            }
            Self::Queue => queue_levels(),
            Self::Mkfs => "options for mkfs".to_owned(),
            Self::Mount => "options for mount".to_owned(),
            Self::Sysctl => {
                format!("{DEFAULT}, or {} with numbers (live lab)", WRITEBACK.join(", "))
            }
            Self::Tweak => format!(
                "{} (live lab; made by `--tweak COMMAND`, taken back by `--undo COMMAND`)",
                named(&SWITCH, ", ")
            ),
            Self::Age => {
                let names = PROFILES.map(|of| format!("{} ({})", of.name, of.description));
                format!("off, {}, \"mail to 0.7\" (a layout score)", names.join(", "))
            }
            Self::Prefill | Self::Stale => {
                "an amount (10 GB) or a share of the device (60 %)".to_owned()
            }
            Self::WriteCache => named(&SWITCH, ", "),
            Self::Drive => format!(
                "a drive of `ssdlab drive list`, or a drive file (virtual lab; default \
                 {DEFAULT_DRIVE})"
            ),
            Self::NodeFeature => {
                "features of machines, such as ssd=x25m (`--on slurm`, `--shares`)".to_owned()
            }
            Self::Label => {
                "the label of a treatment in imported results (not for plans)".to_owned()
            }
            Self::Condition => simulated("purged, filled, overwritten:X, steady, aged:N"),
            Self::PowerLossProtection => simulated(&named(&SWITCH, ", ")),
            Self::Flush => simulated(&named(&FLUSHES, ", ")),
            Self::PowerFault => simulated(&named(&POWER_FAULTS, ", ")),
            Self::Layer => simulated(LAYERS),
            Self::WearLevelling => simulated("none, dynamic, static, static:N"),
            Self::Host => {
                let names = HOSTS.each_ref().map(|host| host.name.as_str()).join(", ");
                simulated(&format!("{names}, or a host file"))
            }
            Self::Kernel => simulated(
                "a version of `ssdlab kernel list`, such as 6.1, or the path of a lab kernel",
            ),
        }
    }
}

fn simulated(levels: &str) -> String {
    format!("{levels} (virtual lab)")
}

/// The levels of a factor whose levels are specific to filesystems.
fn settings(of: fn(&Filesystem) -> &Setting) -> String {
    // `off` alone is not a choice.
    let all = filesystem::ALL.iter().filter(|filesystem| of(filesystem).levels.len() > 1);
    let levels = grouped(all.map(|own| (of(own).names().join(", "), own.name)));
    let row = |(levels, of): &(String, Vec<&str>)| format!("{levels} ({})", of.join(", "));
    levels.iter().map(row).collect::<Vec<_>>().join("; ")
}
