//! Swap that discards each page which it frees.
//!
//! Evidence: swapon(8) on `--discard`: `pages` discards freed pages before they are used again, and
//! may hurt on drives where a discard is slow; `once` trims the area when it is switched on. What a
//! discard costs: the plans `discard` and `trim-today`.

use super::super::finding::{AdviceGrade, CheckName, FindingState, SetupFinding};
use super::super::machine::InspectedMachine;

pub fn check(machine: &InspectedMachine<'_>) -> Vec<SetupFinding> {
    let discards = |option: &String| option == "discard" || option == "discard=pages";
    let swap = machine.fstab.iter().filter(|line| line.kind == "swap");
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
