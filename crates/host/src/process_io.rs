//! What living processes wrote: `/proc/PID/io`.
//!
//! Source: Documentation/filesystems/proc.rst. `write_bytes` counts a page when a process makes it
//! dirty, on whatever device, and `cancelled_write_bytes` those that it then removed unwritten.
//! Only root may read it of processes of others.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::processes;

/// What the living processes of a program wrote, on all devices together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProgramWrites {
    /// The kernel's name of the command.
    pub program: String,
    /// The processes.
    pub processes: usize,
    /// Their bytes.
    pub written_bytes: u64,
}

/// What living processes wrote since each started, on all devices together.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LivingWrites {
    /// By program, the largest first; programs that wrote nothing are left out.
    pub programs: Vec<ProgramWrites>,
    /// The processes whose counters this user may not read.
    pub unreadable: usize,
}

/// Reads the counters of all processes below `proc` in a folder.
pub fn living(root: &Path) -> LivingWrites {
    let mut programs: BTreeMap<String, (usize, u64)> = BTreeMap::new();
    let mut unreadable = 0;
    let entries = fs::read_dir(root.join("proc")).into_iter().flatten().flatten();
    let is_process = |name: &str| name.bytes().all(|byte| byte.is_ascii_digit());
    for entry in entries.filter(|entry| entry.file_name().to_str().is_some_and(is_process)) {
        let Ok(comm) = fs::read(entry.path().join("comm")) else { continue };
        let comm = processes::shown_command(&comm);
        let Ok(io) = fs::read_to_string(entry.path().join("io")) else {
            unreadable += 1;
            continue;
        };
        // A worker of the kernel is named after what it did last.
        let is_kernel = processes::is_kernel_thread(&entry.path()) == Some(true);
        let program = if is_kernel { "kernel threads" } else { comm.as_str() };
        let of_program = programs.entry(program.to_owned()).or_default();
        of_program.0 += 1;
        of_program.1 = of_program.1.saturating_add(written_bytes(&io));
    }
    let mut programs: Vec<ProgramWrites> = programs
        .into_iter()
        .filter(|(_, (_, bytes))| *bytes > 0)
        .map(|(program, (processes, written_bytes))| ProgramWrites {
            program,
            processes,
            written_bytes,
        })
        .collect();
    programs.sort_by_key(|program| std::cmp::Reverse(program.written_bytes));
    LivingWrites { programs, unreadable }
}

fn written_bytes(io: &str) -> u64 {
    let value = |key: &str| -> u64 {
        let mut lines = io.lines().filter_map(|line| line.split_once(": "));
        let found = lines.find(|(own, _)| *own == key);
        found.and_then(|(_, value)| value.trim().parse().ok()).unwrap_or(0)
    };
    value("write_bytes").saturating_sub(value("cancelled_write_bytes"))
}

#[cfg(test)]
mod tests;
