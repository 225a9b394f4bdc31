//! The programs that trials use.

use std::collections::BTreeSet;

use ssdlab_filesystem as filesystem;
use ssdlab_host::meter::environment;
use ssdlab_plan::Schedule;
use ssdlab_plan::schedule::{Action, Build};

/// The versions of the programs that a schedule's trials use, each as printed by the program.
#[must_use]
pub fn tools(schedule: &Schedule) -> Vec<String> {
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
    programs.iter().filter_map(|(name, argument)| environment::version(name, argument)).collect()
}
