//! Swap that discards each page which it frees.
//!
//! Evidence: swapon(8) on `--discard`: `pages` discards freed pages before they are used again, and
//! may hurt on drives where a discard is slow; `once` trims the area when it is switched on. What a
//! discard costs: the plans `discard` and `trim-today`.

use ssdlab_host::whole_disk::DiskKind;

use super::super::finding::{AdviceGrade, CheckName, FindingState, SetupFinding};
use super::super::machine::InspectedMachine;

pub fn check(machine: &InspectedMachine<'_>) -> Vec<SetupFinding> {
    let discards = |option: &String| option == "discard" || option == "discard=pages";
    // In memory a discard frees memory.
    let is_memory = |source: &str| {
        let name = source.strip_prefix("/dev/").and_then(|name| machine.disk_named(name));
        name.is_some_and(|disk| disk.kind == DiskKind::Memory)
    };
    let swap = machine.fstab.iter().filter(|line| line.kind == "swap" && !is_memory(&line.source));
    let found = swap.filter(|line| line.options.iter().any(discards));
    let finding = |source: &str| SetupFinding {
        id: CheckName::SwapDiscard,
        subject: format!("swap on {source}"),
        state: FindingState::ToDo,
        grade: AdviceGrade::Fact,
        why: "Its option discard sends a discard for the pages that it frees, while programs wait \
              for memory."
            .to_owned(),
        remedy: "in /etc/fstab write discard=once instead: it trims the area at each boot"
            .to_owned(),
        risk: None,
    };
    if machine.swap_areas.is_empty() {
        return Vec::new();
    }
    found.map(|line| finding(&line.source)).collect()
}
