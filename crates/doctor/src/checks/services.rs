//! Checks of services that write.

use std::fs;
use std::path::{Path, PathBuf};

use ssdlab_host::regular_file;

use super::super::configuration::{systemd_seconds, systemd_setting};
use super::super::finding::{AdviceGrade, CheckName, FindingState, SetupFinding};
use super::super::machine::InspectedMachine;

/// From here on the interval spares writes.
const ENOUGH_S: f64 = 30.0;

/// A log of the system that is synced line by line.
///
/// Evidence: journald.conf(5): `SyncIntervalSec`, 5 min by default; what is critical is synced at
/// once anyway. What a synced line costs: the plan `container-host`.
pub fn log_sync(machine: &InspectedMachine<'_>) -> Vec<SetupFinding> {
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

/// Where installations keep it: Supervised, Container's usual folders, a package; a user's follow.
const FILES: [&str; 4] = [
    "usr/share/hassio/homeassistant/configuration.yaml",
    "opt/homeassistant/configuration.yaml",
    "srv/homeassistant/configuration.yaml",
    "var/lib/hass/configuration.yaml",
];

/// The default, in seconds.
const DEFAULT_S: u64 = 5;

/// A home automation's recorder that commits every second.
///
/// Evidence: Home Assistant's documentation of `recorder`: `commit_interval`, in seconds between
/// commits of its database (5 by default); each commit of `SQLite` is synced. What a small synced
/// write costs a card: the plan `raspberry`.
pub fn recorder_commits(machine: &InspectedMachine<'_>) -> Vec<SetupFinding> {
    let homes = fs::read_dir(machine.root.join("home")).into_iter().flatten().flatten();
    let of_users = homes.map(|home| {
        Path::new("home").join(home.file_name()).join(".homeassistant/configuration.yaml")
    });
    let files = FILES.iter().map(PathBuf::from).chain(of_users);
    files.filter_map(|file| short_commits(machine, &file)).collect()
}

fn short_commits(machine: &InspectedMachine<'_>, file: &Path) -> Option<SetupFinding> {
    // A user may have put anything there.
    let text = regular_file::read_own(&machine.root.join(file)).ok()?;
    let text = String::from_utf8_lossy(&text);
    let mut of_recorder = text.lines().skip_while(|line| !line.starts_with("recorder:")).skip(1);
    let interval_s = of_recorder
        .by_ref()
        .take_while(|line| line.starts_with([' ', '\t', '#']) || line.trim().is_empty())
        .find_map(|line| line.trim().strip_prefix("commit_interval:")?.trim().parse::<u64>().ok());
    let interval_s = interval_s.filter(|own| *own < DEFAULT_S)?;
    Some(SetupFinding {
        id: CheckName::RecorderCommits,
        subject: Path::new("/").join(file).display().to_string(),
        state: FindingState::ToDo,
        grade: AdviceGrade::Lab,
        why: format!(
            "The recorder commits its database every {interval_s} s, and each commit is synced."
        ),
        remedy: "set commit_interval to 30 below recorder:, and restart Home Assistant".to_owned(),
        risk: Some("A power cut loses up to half a minute of history.".to_owned()),
    })
}
