//! Mounts on which each read writes.
//!
//! Evidence: mount(8) on `strictatime` and `relatime`; the plans `journal` and `wear`, which count
//! the bytes of access times.

use super::super::finding::{AdviceGrade, CheckName, FindingState, SetupFinding};
use super::super::machine::{InspectedMachine, has};

pub fn check(machine: &InspectedMachine<'_>) -> Vec<SetupFinding> {
    // The table shows strict access times by neither of these.
    let is_strict = |mount| !has(mount, "relatime") && !has(mount, "noatime");
    let strict = machine.on_flash().filter(|(mount, _)| is_strict(mount));
    let finding = |target: String| {
        SetupFinding {
        id: CheckName::AccessTimes,
        subject: target,
        state: FindingState::ToDo,
        grade: AdviceGrade::Lab,
        why: "It is mounted with strictatime: each read of a file writes its access time."
            .to_owned(),
        remedy: "remove strictatime from its line in /etc/fstab; relatime is the default"
            .to_owned(),
        risk: Some(
            "A program that compares access times exactly, as some for mail in one file per folder \
             do, sees them up to a day late."
                .to_owned(),
        ),
    }
    };
    strict.map(|(mount, _)| finding(mount.target.display().to_string())).collect()
}
