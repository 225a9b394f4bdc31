//! The environment of a trial: the information that others need to compare its numbers.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use crate::sysfs::{self, BlockDevice};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The machine and the program, as they were for a trial.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// This program's version and the commit it was built from.
    pub ssdlab: String,
    /// The kernel's release and build.
    pub kernel: String,
    /// The processor's model.
    pub cpu: String,
    /// Processors this program may use.
    pub cpus: usize,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// The distribution.
    pub distribution: String,
    /// The versions of the programs a trial uses.
    pub tools: Vec<String>,
    /// The drive's model, where there is a drive.
    pub drive_model: Option<String>,
    /// The drive's firmware.
    pub drive_firmware: Option<String>,
    /// The speed of the drive's link, as reported by the kernel.
    pub drive_link: Option<String>,
}

/// Reads the environment; `tools` are the versions of the programs a trial uses.
pub fn read(device: Option<&BlockDevice>, tools: &[String]) -> Environment {
    let disk = device.map(BlockDevice::disk_folder);
    let of_disk = |name: &str| {
        let text = sysfs::read(&disk.as_ref()?.join("device").join(name)).ok()?;
        (!text.is_empty()).then_some(text)
    };
    Environment {
        ssdlab: program(),
        kernel: kernel(),
        cpu: field(&text("/proc/cpuinfo"), "model name").unwrap_or_default(),
        cpus: std::thread::available_parallelism().map_or(1, usize::from),
        memory_bytes: memory(&text("/proc/meminfo")),
        distribution: distribution(&text("/etc/os-release")),
        tools: tools.to_vec(),
        drive_model: of_disk("model"),
        drive_firmware: of_disk("firmware_rev").or_else(|| of_disk("rev")),
        drive_link: disk.as_deref().and_then(link),
    }
}

/// The program's version. Only `main` sets it, so that only `main` is recompiled after each commit.
static PROGRAM: OnceLock<&'static str> = OnceLock::new();

/// Sets, once, the version of the running program.
pub fn set_program(version: &'static str) {
    PROGRAM.get_or_init(|| version);
}

/// This program's version and the commit it was built from.
pub fn program() -> String {
    (*PROGRAM.get_or_init(|| env!("CARGO_PKG_VERSION"))).to_owned()
}

fn kernel() -> String {
    let name = rustix::system::uname();
    format!("{} {}", name.release().to_string_lossy(), name.version().to_string_lossy())
}

/// An `NVMe` drive's controller and a SATA drive's link publish their speed above the disk in the
/// device tree; a loop device has no link.
fn link(disk: &Path) -> Option<String> {
    let device = fs::canonicalize(disk.join("device")).ok()?;
    device.ancestors().find_map(|above| {
        let of = |name: &str| sysfs::read(&above.join(name)).ok();
        let pcie = || Some(format!("{} x{}", of("current_link_speed")?, of("current_link_width")?));
        let sata = || {
            let links = fs::read_dir(above).ok()?.flatten();
            let link =
                links.into_iter().find(|e| e.file_name().to_string_lossy().starts_with("link"))?;
            let inner = fs::read_dir(link.path().join("ata_link")).ok()?.flatten().next()?;
            sysfs::read(&inner.path().join("sata_spd")).ok()
        };
        pcie().or_else(sata)
    })
}

fn text(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// The first `key : value` of a table such as `/proc/cpuinfo`.
fn field(text: &str, key: &str) -> Option<String> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.trim() == key)
        .map(|(_, value)| value.trim().to_owned())
}

fn memory(meminfo: &str) -> u64 {
    let total = field(meminfo, "MemTotal").unwrap_or_default();
    let kib = total.split_whitespace().next().and_then(|number| number.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

fn distribution(os_release: &str) -> String {
    let line = os_release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    line.unwrap_or_default().trim_matches('"').to_owned()
}

#[cfg(test)]
mod tests;
