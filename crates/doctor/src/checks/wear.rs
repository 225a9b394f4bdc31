//! Flash at the end of its life, as far as sysfs tells: eMMC alone. `ssdlab who` asks other drives.
//!
//! Evidence: JESD84-B51, `DEVICE_LIFE_TIME_EST` and `PRE_EOL_INFO`.

use ssdlab_host::wear::{DriveWear, SpareBlocks};

use super::super::finding::{AdviceGrade, CheckName, FindingState, SetupFinding};
use super::super::machine::InspectedMachine;

/// The used share of its life, in percent, from which on a drive is to be replaced.
const WORN_PERCENT: u64 = 90;

pub fn check(machine: &InspectedMachine<'_>) -> Vec<SetupFinding> {
    let worn = machine.disks.iter().filter(|disk| {
        let wear = DriveWear::by_sysfs(&machine.root, &disk.name);
        let is_used = wear.used_percent.is_some_and(|[from, _]| from >= WORN_PERCENT);
        is_used || wear.spare_blocks == Some(SpareBlocks::Urgent)
    });
    let finding = |disk: &ssdlab_host::whole_disk::WholeDisk| SetupFinding {
        id: CheckName::Wear,
        subject: format!("/dev/{}", disk.name),
        state: FindingState::ToDo,
        grade: AdviceGrade::Fact,
        why: "It says that at least nine tenths of its life or of its spare blocks are used."
            .to_owned(),
        remedy: "back it up, replace it, and see what wrote: ssdlab who".to_owned(),
        risk: None,
    };
    worn.map(finding).collect()
}
