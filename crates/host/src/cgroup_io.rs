//! What each cgroup wrote to a disk: `io.stat` of cgroup v2.
//!
//! Source: Documentation/admin-guide/cgroup-v2.rst. The counters are hierarchical. They begin when
//! the controller is turned on for a cgroup; those of one that is gone stay in its parent, but on
//! Linux 6.1 were seen to be lost. What the kernel writes for itself (journal, metadata, swap) is
//! the root's.

use std::fs;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cgroup_name::{self, CgroupKind};
use super::mounts::Mount;
use super::sysfs;

/// How deep cgroups are looked into: systemd's are at most six deep below a user's session.
const DEEPEST: usize = 12;

/// Whether this machine counts what cgroups write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IoAccounting {
    /// It does.
    On,
    /// It could, and has not been told to.
    Off,
    /// cgroup v2 has no controller `io` here: the kernel lacks it, or cgroup v1 has it.
    NoController,
    /// No cgroup v2 is mounted.
    NoCgroup2,
}

/// The tree of cgroups as this process sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CgroupTree {
    /// Where it is mounted, below the folder that was given.
    folder: Option<PathBuf>,
    /// Whether it counts.
    pub accounting: IoAccounting,
    /// Whether it is only a part of the machine's tree, as in a container.
    pub is_part: bool,
}

/// What a cgroup wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CgroupWrites {
    /// The cgroup below the root (`system.slice/cron.service`).
    pub cgroup: String,
    /// What it is.
    pub kind: CgroupKind,
    pub written_bytes: u64,
    /// Whether they are only what those in it do not make up.
    pub is_rest: bool,
}

impl CgroupTree {
    /// Finds the tree by the mount table.
    pub fn find(root: &Path, mounts: &[Mount]) -> Self {
        let mounted = mounts.iter().find(|mount| mount.kind == "cgroup2");
        let folder = mounted
            .and_then(|mount| mount.target.strip_prefix("/").ok())
            .map(|target| root.join(target));
        let accounting = folder.as_deref().map_or(IoAccounting::NoCgroup2, accounting);
        // Only the true root has no events.
        let is_part = folder.as_ref().is_some_and(|folder| folder.join("cgroup.events").exists());
        Self { folder, accounting, is_part }
    }

    /// Where a cgroup's files are.
    pub fn folder_of(&self, cgroup: &str) -> Option<PathBuf> {
        self.folder.as_ref().map(|folder| folder.join(cgroup))
    }

    /// What wrote to a disk, given by its number, the largest first: services, containers and the
    /// like as a whole, and of each slice what those in it do not make up.
    pub fn writes(&self, number: &str) -> Vec<CgroupWrites> {
        let mut found = Vec::new();
        if let Some(folder) = self.folder.as_ref().filter(|_| self.accounting == IoAccounting::On) {
            for (name, child) in children(folder) {
                collect(&child, &name, number, DEEPEST, &mut found);
            }
        }
        found.retain(|writes| writes.written_bytes > 0);
        found.sort_by(|one, other| {
            other.written_bytes.cmp(&one.written_bytes).then(one.cgroup.cmp(&other.cgroup))
        });
        found
    }
}

fn accounting(folder: &Path) -> IoAccounting {
    let has_io = |file: &str| {
        let text = sysfs::read(&folder.join(file)).unwrap_or_default();
        text.split_whitespace().any(|controller| controller == "io")
    };
    match (has_io("cgroup.controllers"), has_io("cgroup.subtree_control")) {
        (_, true) => IoAccounting::On,
        (true, false) => IoAccounting::Off,
        (false, false) => IoAccounting::NoController,
    }
}

/// Adds what a cgroup wrote: as a whole, or by those in it and the rest. Returns its bytes.
fn collect(
    folder: &Path,
    cgroup: &str,
    number: &str,
    depth: usize,
    found: &mut Vec<CgroupWrites>,
) -> u64 {
    let stat = fs::read_to_string(folder.join("io.stat")).ok();
    let own = stat.and_then(|text| written_bytes(&text, number)).unwrap_or(0);
    if own == 0 {
        return 0;
    }
    let kind = cgroup_name::kind(cgroup);
    let below = if kind == CgroupKind::Group && depth > 0 { children(folder) } else { Vec::new() };
    let told: u64 = below
        .iter()
        .map(|(name, child)| collect(child, &format!("{cgroup}/{name}"), number, depth - 1, found))
        .fold(0, u64::saturating_add);
    found.push(CgroupWrites {
        cgroup: cgroup.to_owned(),
        kind,
        written_bytes: own.saturating_sub(told),
        is_rest: told > 0,
    });
    own.max(told)
}

/// The bytes written to a disk, by the text of `io.stat`: a line `MAJOR:MINOR KEY=VALUE...` a disk.
fn written_bytes(text: &str, number: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.split_once(' '));
    let (_, values) = lines.find(|(own, _)| *own == number)?;
    values.split_whitespace().find_map(|value| value.strip_prefix("wbytes="))?.parse().ok()
}

fn children(folder: &Path) -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut named: Vec<(String, PathBuf)> = folders
        .filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path())))
        .collect();
    named.sort();
    named
}

#[cfg(test)]
mod tests;
