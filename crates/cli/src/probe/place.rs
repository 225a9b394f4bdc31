//! What is below a folder, as far as anyone may see it.

use std::path::Path;

use miette::{IntoDiagnostic, Report, WrapErr};
use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_doctor::InspectedMachine;
use ssdlab_host::mounts;
use ssdlab_host::whole_disk::DiskKind;

/// Where a drive was probed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ProbedPlace {
    /// The folder.
    pub(super) folder: String,
    /// The filesystem's type.
    pub(super) filesystem: String,
    /// The device, and all below it, by the kernel's names.
    pub(super) devices: Vec<String>,
    /// The vendor's name of the lowest one.
    pub(super) model: Option<String>,
    /// What the lowest one is.
    pub(super) kind: Option<DiskKind>,
    /// The size of the device, if it is a whole disk without layers.
    pub(super) capacity_bytes: Option<u64>,
    /// Whether writes with forced unit access reach the device as such.
    pub(super) passes_fua: bool,
}

impl ProbedPlace {
    pub(super) fn of(folder: &Path) -> Result<Self, Report> {
        let machine = InspectedMachine::read(Path::new("/"), 0, &|_| None)
            .into_diagnostic()
            .wrap_err("cannot read the mounts of this machine")?;
        let mount = mounts::containing(folder).into_diagnostic()?;
        let top = mount.as_ref().and_then(|mount| machine.disk_of(mount));
        let stack = top.map(|top| machine.stack(top)).unwrap_or_default();
        let lowest = stack.last();
        let only = stack.first().filter(|disk| stack.len() == 1 && !disk.kind.is_layer());
        Ok(Self {
            folder: mounts::printable(folder),
            filesystem: mount.map_or_else(|| "unknown".to_owned(), |mount| mount.kind.clone()),
            devices: stack.iter().map(|disk| disk.name.clone()).collect(),
            model: lowest.and_then(|disk| disk.model.clone()),
            kind: lowest.map(|disk| disk.kind),
            capacity_bytes: only.map(|disk| disk.size_bytes),
            passes_fua: top.and_then(|disk| machine.queue(disk, "fua")).as_deref() == Some("1"),
        })
    }
}
