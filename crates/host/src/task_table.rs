//! The threads that run, as `/proc` shows them: program, process and cgroup.

use std::fs;
use std::path::Path;

use super::processes;

/// A thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskEntry {
    pub thread: u32,
    pub process: u32,
    /// The process's `comm`.
    pub program: String,
    /// The process's path in the unified hierarchy of cgroups.
    pub cgroup: String,
    /// Whether it is a thread of the kernel.
    pub is_kernel: bool,
}

/// All threads. Those that end meanwhile may be missing.
pub fn tasks() -> Vec<TaskEntry> {
    numbers(Path::new("/proc")).filter_map(of_process).flatten().collect()
}

/// The numbers of all threads.
pub fn threads() -> impl Iterator<Item = u32> {
    numbers(Path::new("/proc"))
        .flat_map(|process| numbers(&Path::new("/proc").join(process.to_string()).join("task")))
}

fn numbers(folder: &Path) -> impl Iterator<Item = u32> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn of_process(process: u32) -> Option<Vec<TaskEntry>> {
    let folder = Path::new("/proc").join(process.to_string());
    let is_kernel = processes::is_kernel_thread(&folder)?;
    let program = fs::read(folder.join("comm")).ok()?;
    let program = String::from_utf8_lossy(&program).trim_end().to_owned();
    let cgroup = cgroup(process).unwrap_or_else(|| "/".to_owned());
    let entry = |thread| TaskEntry {
        thread,
        process,
        program: program.clone(),
        cgroup: cgroup.clone(),
        is_kernel,
    };
    Some(numbers(&folder.join("task")).map(entry).collect())
}

/// The path of a process in the unified hierarchy; `None` if it has ended or there is none.
pub fn cgroup(process: u32) -> Option<String> {
    let text = fs::read(format!("/proc/{process}/cgroup")).ok()?;
    let text = String::from_utf8_lossy(&text).into_owned();
    text.lines().find_map(|line| line.strip_prefix("0::")).map(str::to_owned)
}

#[cfg(test)]
mod tests;
