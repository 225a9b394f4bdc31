//! Filesystems without space for the drive and for themselves.
//!
//! Evidence: the plan `overprovision`: a drive that is overwritten at random wears the faster the
//! less of it is free. All allocators slow down and fragment when little is left.

use super::super::finding::{AdviceGrade, CheckName, FindingState, SetupFinding};
use super::super::machine::InspectedMachine;

/// The least free share, in percent.
const LEAST_PERCENT: f64 = 5.0;

pub fn check(machine: &InspectedMachine<'_>) -> Vec<SetupFinding> {
    let full = machine.on_flash().filter_map(|(mount, _)| {
        let space = machine.space(mount)?;
        let free = space.free as f64 / space.size.max(1) as f64 * 100.0;
        (free < LEAST_PERCENT).then_some((mount, free))
    });
    let finding = |target: String, free: f64| SetupFinding {
        id: CheckName::FreeSpace,
        subject: target,
        state: FindingState::ToDo,
        grade: AdviceGrade::Lab,
        why: format!(
            "Only {free:.0} % of it is free: files fragment, and the drive has less to wear evenly."
        ),
        remedy: "delete or move files until a tenth is free, and trim it: fstrim".to_owned(),
        risk: None,
    };
    full.map(|(mount, free)| finding(mount.target.display().to_string(), free)).collect()
}
