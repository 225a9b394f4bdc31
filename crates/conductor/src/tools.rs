//! The programs that trials use.

use std::collections::BTreeSet;

use ssdlab_filesystem as filesystem;
use ssdlab_host::toolbox::Toolbox;
use ssdlab_lab as lab;
use ssdlab_plan::schedule::{Action, Build};
use ssdlab_plan::{Layer, Schedule};

/// The programs with which guests make, mount and check what a schedule has, with their packages.
pub(super) fn guest_programs(schedule: &Schedule) -> BTreeSet<(&'static str, &'static str)> {
    let mut programs = BTreeSet::from([("fstrim", "util-linux")]);
    for filesystem in schedule.setups().filter_map(|setup| setup.filesystem) {
        let is_checked = schedule.verify || schedule.cuts.is_some();
        let check = filesystem.check.filter(|_| is_checked).map(|check| check.program);
        let snapshot = filesystem.snapshot.map(|snapshot| snapshot.call().program);
        let layout = filesystem.layout.into_iter().flat_map(|query| query.questions);
        let asked = layout.map(|question| question.call.program);
        let replay = filesystem.replay.filter(|_| schedule.cuts.is_some());
        let replay = replay.map(|replay| replay.program);
        let own = filesystem.programs().into_iter().chain(check).chain(replay);
        let own = own.chain(snapshot).chain(asked);
        programs.extend(own.map(|program| (program, filesystem.package)));
    }
    for layer in schedule.setups().filter_map(|setup| setup.simulated.layer.as_ref()) {
        match layer {
            Layer::Crypt { .. } | Layer::Thin { .. } => programs.extend([lab::DMSETUP]),
            Layer::Image { on } => {
                programs.extend(on.programs().into_iter().map(|program| (program, on.package)));
            }
        }
    }
    programs
}

/// Where the programs of a schedule's guests are from.
pub fn of_guests(schedule: &Schedule) -> Toolbox {
    let own = guest_programs(schedule).into_iter().map(|(program, _)| program);
    Toolbox::for_guests(own.chain(schedule.programs()))
}

/// The versions of the programs that a schedule's trials use, each as printed by the program.
pub fn tools(schedule: &Schedule, toolbox: &Toolbox) -> Vec<String> {
    let used: BTreeSet<&str> =
        schedule.setups().filter_map(|setup| Some(setup.filesystem?.name)).collect();
    let mut programs: Vec<(&str, &str)> = filesystem::ALL
        .iter()
        // Filesystems in pools report their version when they are mounted.
        .filter(|known| used.contains(known.name) && known.pool.is_none())
        .map(|filesystem| (filesystem.mkfs, "-V"))
        .collect();
    let does = |action: fn(&Action) -> bool| {
        (0..schedule.treatments.len())
            .flat_map(|index| schedule.phases(index))
            .any(|phase| action(&phase.action))
    };
    if does(|action| matches!(action, Action::Fstrim)) {
        programs.push(("fstrim", "--version"));
    }
    if does(|action| matches!(action, Action::Fio { .. })) {
        programs.push(("fio", "--version"));
    }
    if let Some(Build::Git { .. }) = schedule.workload.build {
        programs.extend([("git", "--version"), ("make", "--version"), ("cc", "--version")]);
    }
    programs.iter().filter_map(|(name, argument)| toolbox.version(name, argument)).collect()
}

#[cfg(test)]
mod tests;
