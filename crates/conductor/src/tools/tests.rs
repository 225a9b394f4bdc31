//! The archive brings the programs that guests of shipped plans need.

use std::path::Path;

use ssdlab_plan::{Overrides, schedule, shipped};

use super::*;

/// What the archive brings, as programs with their packages.
const BROUGHT: &str = include_str!("../../../../packaging/guest-programs");

/// The packages of filesystems that no lab kernel of an archive has.
const NEVER_RUN: [&str; 2] = ["reiser4progs", "bcachefs-tools"];

#[test]
fn the_archive_has_what_guests_of_shipped_plans_need() {
    let lines = BROUGHT.lines().filter_map(|line| line.split_once(": "));
    let brought: BTreeSet<(&str, &str)> = lines
        .flat_map(|(package, programs)| programs.split(' ').map(move |program| (program, package)))
        .collect();
    for plan in shipped::ALL {
        let resolved = schedule(plan.name, plan.text, &Overrides::default(), Path::new("/"));
        let resolved = resolved.unwrap().verified();
        assert!(resolved.programs().is_empty(), "{} names programs of its own", plan.name);
        let needed = guest_programs(&resolved);
        let missing = needed.difference(&brought);
        let missing: Vec<_> = missing.filter(|(_, package)| !NEVER_RUN.contains(package)).collect();
        assert!(missing.is_empty(), "packaging/guest-programs lacks {missing:?} of {}", plan.name);
    }
}
