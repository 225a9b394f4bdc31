//! A home automation's recorder that commits every second.
//!
//! Evidence: Home Assistant's documentation of `recorder`: `commit_interval`, in seconds between
//! commits of its database (5 by default); each commit of `SQLite` is synced. What a small synced
//! write costs a card: the plan `raspberry`.

use std::fs;
use std::path::{Path, PathBuf};

use ssdlab_host::regular_file;

use super::super::finding::{AdviceGrade, CheckName, FindingState, SetupFinding};
use super::super::machine::InspectedMachine;

/// Where installations keep it: Supervised, Container's usual folders, a package; a user's follow.
const FILES: [&str; 4] = [
    "usr/share/hassio/homeassistant/configuration.yaml",
    "opt/homeassistant/configuration.yaml",
    "srv/homeassistant/configuration.yaml",
    "var/lib/hass/configuration.yaml",
];

/// The default, in seconds.
const DEFAULT_S: u64 = 5;

pub fn check(machine: &InspectedMachine<'_>) -> Vec<SetupFinding> {
    let homes = fs::read_dir(machine.root.join("home")).into_iter().flatten().flatten();
    let of_users = homes.map(|home| {
        Path::new("home").join(home.file_name()).join(".homeassistant/configuration.yaml")
    });
    let files = FILES.iter().map(PathBuf::from).chain(of_users);
    files.filter_map(|file| finding(machine, &file)).collect()
}

fn finding(machine: &InspectedMachine<'_>, file: &Path) -> Option<SetupFinding> {
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
