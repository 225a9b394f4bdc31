//! The memory that this process can have: of the machine, and within its control groups.
//!
//! Sources: the kernel's Documentation/admin-guide/cgroup-v2.rst (`memory.max`, `memory.high`,
//! `memory.current`) and cgroup-v1/memory.rst (`memory.limit_in_bytes`, `memory.usage_in_bytes`);
//! cgroups(7) for `/proc/self/cgroup`.

use std::fs;
use std::path::Path;

use procfs::Current;

use super::mounts::{self, Mount};

/// The memory available without swapping, in bytes: what the kernel says of the machine, and what
/// is left of the limits of this process's memory control groups and of those above them.
pub fn available_bytes() -> u64 {
    let info = procfs::Meminfo::current().ok();
    let of_machine = info.and_then(|info| info.mem_available).unwrap_or(1 << 30);
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let mounts = mounts::all().unwrap_or_default();
    left_in_groups(&groups, &mounts).map_or(of_machine, |left| left.min(of_machine))
}

/// The names of a version's files: limits, the memory in use, and the key of the part of it, in
/// `memory.stat`, that the kernel frees first.
struct Files {
    limits: &'static [&'static str],
    used: &'static str,
    cached: &'static str,
}

const VERSION_1: Files = Files {
    limits: &["memory.limit_in_bytes"],
    used: "memory.usage_in_bytes",
    cached: "total_inactive_file",
};
const VERSION_2: Files = Files {
    limits: &["memory.max", "memory.high"],
    used: "memory.current",
    cached: "inactive_file",
};

/// What the tightest of the limits leaves; `groups` is `/proc/self/cgroup`. None without a limit.
fn left_in_groups(groups: &str, mounts: &[Mount]) -> Option<u64> {
    let mut left = None;
    for line in groups.lines() {
        // HIERARCHY:CONTROLLERS:PATH, in version 2 `0::PATH`.
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        let files = match controllers {
            "" => &VERSION_2,
            names if names.split(',').any(|name| name == "memory") => &VERSION_1,
            _ => continue,
        };
        let is_it = |mount: &&Mount| match controllers {
            "" => mount.kind == "cgroup2",
            _ => mount.kind == "cgroup" && mount.options.iter().any(|option| option == "memory"),
        };
        let Some(mount) = mounts.iter().find(is_it) else { continue };
        // In a container the path may be one of the host, of which nothing is mounted here but the
        // container's own group, at the mount point.
        for part in Path::new(path.trim_start_matches('/')).ancestors() {
            let of_group = left_in(&mount.target.join(part), files);
            left = left.into_iter().chain(of_group).min();
        }
    }
    left
}

/// What the limits of one group leave.
fn left_in(group: &Path, files: &Files) -> Option<u64> {
    let number = |name: &str| fs::read_to_string(group.join(name)).ok()?.trim().parse().ok();
    // Without a limit the file says `max`, or a number close to 2^63.
    let limit: u64 = files.limits.iter().filter_map(|name| number(name)).min()?;
    let used: u64 = number(files.used)?;
    let stat = fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
    let cached = stat.lines().find_map(|line| line.strip_prefix(files.cached)?.trim().parse().ok());
    Some(limit.saturating_sub(used.saturating_sub(cached.unwrap_or(0))))
}

#[cfg(test)]
mod tests;
