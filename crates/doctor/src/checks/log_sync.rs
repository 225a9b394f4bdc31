//! A log of the system that is synced line by line.
//!
//! Evidence: journald.conf(5): `SyncIntervalSec`, 5 min by default; what is critical is synced at
//! once anyway. What a synced line costs: the plan `container-host`.

use super::super::configuration::{systemd_seconds, systemd_setting};
use super::super::finding::{AdviceGrade, CheckName, FindingState, SetupFinding};
use super::super::machine::InspectedMachine;

/// From here on the interval spares writes.
const ENOUGH_S: f64 = 30.0;

pub fn check(machine: &InspectedMachine<'_>) -> Vec<SetupFinding> {
    let set = systemd_setting(&machine.root, "journald.conf", "SyncIntervalSec");
    // An empty value resets it; 0 is never, but for what is critical.
    let short = set.filter(|(_, text)| !text.is_empty()).filter(|(_, text)| {
        systemd_seconds(text).is_some_and(|seconds| seconds > 0.0 && seconds < ENOUGH_S)
    });
    let finding = |(file, value): (std::path::PathBuf, String)| SetupFinding {
        id: CheckName::LogSync,
        subject: file.display().to_string(),
        state: FindingState::ToDo,
        grade: AdviceGrade::Lab,
        why: format!("SyncIntervalSec={value}: the system's log is synced nearly line by line."),
        remedy: "remove the line, and systemctl restart systemd-journald".to_owned(),
        risk: Some(
            "A power cut loses up to five minutes of the log, but nothing critical.".to_owned(),
        ),
    };
    short.into_iter().map(finding).collect()
}
