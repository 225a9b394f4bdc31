//! Calls of a filesystem's programs, and what they print.

/// A program and its first arguments; the device or the name of the pool follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MkfsCall {
    pub program: &'static str,
    /// Its first arguments.
    pub arguments: &'static [&'static str],
}

/// How lines begin that tell of a check's steps, not of what it finds. Those of `xfs_repair` are
/// many, and come after its findings.
const STEPS: [&str; 4] = ["Pass ", "Phase ", "- ", "No modify flag set"];

/// What a check found, by what it printed; all of that if it names no finding.
pub fn findings(printed: &str) -> String {
    let is_step = |line: &&str| STEPS.iter().any(|step| line.trim_start().starts_with(step));
    let findings: Vec<&str> = printed.lines().filter(|line| !is_step(line)).collect();
    let findings = findings.join("\n");
    if findings.trim().is_empty() { printed.to_owned() } else { findings }
}

/// How mkfs says that it found the UUID it was given on another device. Only that of btrfs looks
/// for it (`mkfs/main.c` of btrfs-progs).
const UUID_IN_USE: &str = "non-unique UUID";

/// Whether mkfs failed because another device has the UUID that it was given, by what it printed.
pub fn is_uuid_in_use(printed: &str) -> bool {
    printed.contains(UUID_IN_USE)
}
