//! Whether a machine is one.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_host::mounts::Mount;
use ssdlab_host::sysfs;

/// What the kernel of this process runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MachinePlace {
    /// Hardware of its own.
    Hardware,
    /// A virtual machine, whose drives belong to a host.
    VirtualMachine,
    /// A container, whose kernel, mounts and drives belong to a host.
    Container,
}

/// How hypervisors and clouds name the machines that they make (`sys_vendor`, `product_name`), as
/// systemd's `detect-virt` knows them.
const HYPERVISORS: [&str; 12] = [
    "Amazon EC2",
    "Apple Virtualization",
    "BHYVE",
    "Bochs",
    "Google Compute Engine",
    "Hetzner vServer",
    "KVM",
    "OpenStack",
    "Parallels",
    "QEMU",
    "VMware",
    "innotek GmbH",
];

impl MachinePlace {
    /// What the folder that holds `sys`, `proc` and `run` belongs to, with its mounts.
    #[must_use]
    pub fn of(root: &Path, mounts: &[Mount]) -> Self {
        // Container managers leave these (podman; docker), also in images from which virtual
        // machines are made: their root is a filesystem of their own.
        let is_made_of_layers = || {
            let top = mounts.iter().rfind(|mount| mount.target == Path::new("/"));
            let is_device = |mount: &Mount| Path::new(&mount.source).starts_with("/dev");
            top.is_none_or(|mount| mount.kind == "btrfs" || !is_device(mount))
        };
        let is_marked = [".dockerenv", "run/.containerenv"].iter().any(|m| root.join(m).exists());
        // systemd's container interface.
        let is_told = root.join("run/systemd/container").exists();
        if is_told || (is_marked && is_made_of_layers()) {
            return Self::Container;
        }
        let firmware =
            |name: &str| sysfs::read(&root.join("sys/class/dmi/id").join(name)).unwrap_or_default();
        let names = [firmware("sys_vendor"), firmware("product_name")];
        let is_known = HYPERVISORS.iter().any(|own| names.iter().any(|name| name.contains(own)));
        let is_hyper_v = names[0].starts_with("Microsoft") && names[1] == "Virtual Machine";
        // The processor has a bit for it, which is always clear on hardware (Intel SDM, CPUID.1).
        let processor = sysfs::read(&root.join("proc/cpuinfo")).unwrap_or_default();
        let flags = processor.lines().find(|line| line.starts_with("flags")).unwrap_or_default();
        let has_bit = flags.split_whitespace().any(|flag| flag == "hypervisor");
        if is_known || is_hyper_v || has_bit { Self::VirtualMachine } else { Self::Hardware }
    }
}
