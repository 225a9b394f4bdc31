//! The checks.

mod drives;
mod mounts;
mod services;
mod trim_path;
mod trim_schedule;

use super::finding::{AdviceGrade, CheckName, FindingState, SetupFinding};
use super::machine::InspectedMachine;
use super::machine::MachinePlace;

/// Everything about a machine that could be better, what loses data first.
pub fn examine(machine: &InspectedMachine<'_>) -> Vec<SetupFinding> {
    if machine.place == MachinePlace::Container {
        return vec![of_container()];
    }
    let checks: [fn(&InspectedMachine<'_>) -> Vec<SetupFinding>; 13] = [
        mounts::barriers,
        drives::write_cache,
        drives::wear,
        trim_path::check,
        trim_schedule::check,
        mounts::swap_discard,
        mounts::access_times,
        mounts::commit_interval,
        services::recorder_commits,
        services::log_sync,
        mounts::image_on_btrfs,
        mounts::free_space,
        drives::alignment,
    ];
    let mut found: Vec<SetupFinding> = checks.iter().flat_map(|check| check(machine)).collect();
    found.sort_by_key(|finding| finding.state);
    found
}

/// A container sees its host's drives, but neither mounts them nor may set them up.
fn of_container() -> SetupFinding {
    SetupFinding {
        id: CheckName::Host,
        subject: "this container".to_owned(),
        state: FindingState::OnTheHost,
        grade: AdviceGrade::Fact,
        why: "Drives and mounts are set up on the host of a container.".to_owned(),
        remedy: "run ssdlab doctor on the host".to_owned(),
        risk: None,
    }
}
