//! Drives that could be trimmed, and are not.
//!
//! Evidence: fstrim(8), and util-linux' `fstrim.service`, which trims what `/etc/fstab` lists, and
//! what is mounted only where there is no fstab. btrfs discards by itself since Linux 6.2
//! (`discard=async`). Why a timer and not the option `discard`: the plan `discard`.

use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

use ssdlab_host::mounts::Mount;

use super::super::finding::{AdviceGrade, CheckName, FindingState, SetupFinding};
use super::super::machine::InspectedMachine;

/// What starts fstrim, where it is enabled.
const TIMERS: [&str; 3] = [
    "etc/systemd/system/timers.target.wants/fstrim.timer",
    "usr/lib/systemd/system/timers.target.wants/fstrim.timer",
    "run/systemd/system/timers.target.wants/fstrim.timer",
];
const CRON: [&str; 3] = ["etc/cron.daily", "etc/cron.weekly", "etc/cron.monthly"];

/// When the timer last ran: the file's time (systemd.timer(5), `Persistent`).
const STAMP: &str = "var/lib/systemd/timers/stamp-fstrim.timer";

/// It runs once a week.
const LATE_DAYS: u64 = 30;
const DAY_S: u64 = 86_400;

pub fn check(machine: &InspectedMachine<'_>) -> Vec<SetupFinding> {
    let untrimmed: Vec<&Mount> = machine
        .on_flash()
        .filter(|(mount, disk)| {
            let is_own = mount.options.iter().any(|option| option.starts_with("discard"));
            machine.takes_discards(disk) && !is_own
        })
        .map(|(mount, _)| mount)
        .collect();
    let exists = |path: &&str| fs::symlink_metadata(machine.root.join(path)).is_ok();
    let has_timer = TIMERS.iter().any(exists);
    let has_cron = CRON.iter().any(|folder| calls_fstrim(&machine.root.join(folder)));
    if untrimmed.is_empty() {
        return Vec::new();
    }
    if !has_timer && !has_cron {
        return vec![nothing_trims(machine, &untrimmed)];
    }
    let late = late_days(machine).filter(|_| has_timer).map(|days| is_late(&untrimmed, days));
    let unlisted = untrimmed.iter().filter(|mount| has_timer && !is_listed(machine, mount));
    late.into_iter().chain(unlisted.map(|mount| not_listed(mount))).collect()
}

fn finding(subject: String, why: String, remedy: String) -> SetupFinding {
    SetupFinding {
        id: CheckName::TrimSchedule,
        subject,
        state: FindingState::ToDo,
        grade: AdviceGrade::Fact,
        why,
        remedy,
        risk: None,
    }
}

fn nothing_trims(machine: &InspectedMachine<'_>, mounts: &[&Mount]) -> SetupFinding {
    let remedy = if machine.root.join("run/systemd/system").exists() {
        "systemctl enable --now fstrim.timer"
    } else {
        "run fstrim --all once a week, as by a file in /etc/cron.weekly"
    };
    let why = "Nothing tells the drive of deleted files: neither a timer nor the option discard.";
    finding(listed(mounts), why.to_owned(), remedy.to_owned())
}

fn is_late(mounts: &[&Mount], days: u64) -> SetupFinding {
    finding(
        listed(mounts),
        format!("fstrim.timer is enabled, but last ran {days} days ago."),
        "systemctl start fstrim.service; systemctl status fstrim.timer".to_owned(),
    )
}

fn not_listed(mount: &Mount) -> SetupFinding {
    let target = mount.target.display();
    finding(
        target.to_string(),
        "fstrim.timer trims only what /etc/fstab lists, which has no line for it.".to_owned(),
        format!("add a line for {target} to /etc/fstab, or run fstrim {target} by a timer"),
    )
}

/// Whether fstrim.service trims a mount.
fn is_listed(machine: &InspectedMachine<'_>, mount: &Mount) -> bool {
    let fstab = &machine.fstab;
    // Other mounts of a filesystem trim it as well, so its lines count wherever they mount it.
    let is_of = |target: &Path, source: &str| {
        target == mount.target || Path::new(source) == Path::new(&mount.source)
    };
    fstab.is_empty()
        || fstab.iter().any(|line| {
            let is_left_out = line.options.iter().any(|option| option == "X-fstrim.notrim");
            is_of(&line.target, &line.source) && !is_left_out
        })
}

/// Whether a program in a folder of cron's calls fstrim.
fn calls_fstrim(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut texts = entries.filter_map(|entry| fs::read_to_string(entry.path()).ok());
    texts.any(|text| text.contains("fstrim"))
}

/// How many days ago the timer ran, if that was too long ago.
fn late_days(machine: &InspectedMachine<'_>) -> Option<u64> {
    let modified = fs::metadata(machine.root.join(STAMP)).ok()?.modified().ok()?;
    let ran_s = modified.duration_since(UNIX_EPOCH).ok()?.as_secs();
    let days = machine.now_s.saturating_sub(ran_s) / DAY_S;
    (days >= LATE_DAYS).then_some(days)
}

fn listed(mounts: &[&Mount]) -> String {
    let targets = mounts.iter().map(|mount| mount.target.display().to_string());
    ssdlab_quantity::listed(&targets.collect::<Vec<_>>())
}
