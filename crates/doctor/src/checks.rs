//! The checks.

mod access_times;
mod alignment;
mod barriers;
mod commit_interval;
mod free_space;
mod image_on_btrfs;
mod log_sync;
mod recorder_commits;
mod swap_discard;
mod trim_path;
mod trim_schedule;
mod wear;
mod write_cache;

use super::finding::{AdviceGrade, CheckName, FindingState, SetupFinding};
use super::machine::InspectedMachine;
use super::place::MachinePlace;

/// Everything about a machine that could be better, what loses data first.
#[must_use]
pub fn examine(machine: &InspectedMachine<'_>) -> Vec<SetupFinding> {
    if machine.place == MachinePlace::Container {
        return vec![of_container()];
    }
    let checks: [fn(&InspectedMachine<'_>) -> Vec<SetupFinding>; 13] = [
        barriers::check,
        write_cache::check,
        wear::check,
        trim_path::check,
        trim_schedule::check,
        swap_discard::check,
        access_times::check,
        commit_interval::check,
        recorder_commits::check,
        log_sync::check,
        image_on_btrfs::check,
        free_space::check,
        alignment::check,
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
