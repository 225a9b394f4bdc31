//! A machine as anyone may see it: its drives, what lies on them, and how that is mounted.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;
use ssdlab_host::mounts::{self, Mount};
use ssdlab_host::sysfs;
use ssdlab_host::whole_disk::{self, DiskKind, WholeDisk};

use super::configuration::{self, FstabLine};

/// The space of a filesystem, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpaceUse {
    /// What it holds at most.
    pub size: u64,
    /// What is free, what is reserved for root included.
    pub free: u64,
}

/// A machine as anyone may see it.
pub struct InspectedMachine<'a> {
    /// The folder that holds `sys`, `proc`, `etc`, `run` and `var`: `/`, but for tests.
    pub root: PathBuf,
    /// What it runs on.
    pub place: MachinePlace,
    /// Its disks, layers such as LUKS among them.
    pub disks: Vec<WholeDisk>,
    /// Its mounted filesystems, each once, by the first mount.
    pub mounts: Vec<Mount>,
    /// The devices and files used as swap.
    pub swap_areas: Vec<PathBuf>,
    /// `/etc/fstab`.
    pub(crate) fstab: Vec<FstabLine>,
    /// Seconds since 1970.
    pub now_s: u64,
    space: &'a dyn Fn(&Path) -> Option<SpaceUse>,
}

impl fmt::Debug for InspectedMachine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InspectedMachine").field("root", &self.root).finish_non_exhaustive()
    }
}

impl<'a> InspectedMachine<'a> {
    /// Reads a machine; `space` asks for the space of a mount point.
    ///
    /// # Errors
    ///
    /// Where the table of mounts cannot be read.
    pub fn read(
        root: &Path,
        now_s: u64,
        space: &'a dyn Fn(&Path) -> Option<SpaceUse>,
    ) -> io::Result<Self> {
        let mut seen = BTreeSet::new();
        let mut all = whole_disk::mount_table(root)?;
        let place = MachinePlace::of(root, &all);
        all.retain(|mount| seen.insert(mount.device.clone()));
        Ok(Self {
            root: root.to_owned(),
            place,
            disks: whole_disk::all(root),
            mounts: all,
            swap_areas: mounts::swap_areas_in(&root.join("proc/swaps"))?,
            fstab: configuration::fstab(root),
            now_s,
            space,
        })
    }

    /// The space of a filesystem.
    pub fn space(&self, mount: &Mount) -> Option<SpaceUse> {
        (self.space)(&mount.target)
    }

    /// The disk that a mount is on, or whose partition it is on.
    pub fn disk_of(&self, mount: &Mount) -> Option<&WholeDisk> {
        whole_disk::disk_of(&self.root, mount, &self.disks)
    }

    /// The disk of this name, or with a partition of it.
    pub fn disk_named(&self, name: &str) -> Option<&WholeDisk> {
        whole_disk::named(&self.disks, name)
    }

    /// A disk and all below it, from the top down.
    pub fn stack<'m>(&'m self, top: &'m WholeDisk) -> Vec<&'m WholeDisk> {
        let below = whole_disk::layers_below(&self.root, top, &self.disks, &self.mounts);
        std::iter::once(top).chain(below).collect()
    }

    /// Whether what is written to a disk is written to flash, as far as that is known: neither a
    /// hard disk, nor memory.
    pub fn is_on_flash(&self, disk: &WholeDisk) -> bool {
        let leaves = self.stack(disk);
        let leaves: Vec<_> = leaves.iter().filter(|disk| !disk.kind.is_layer()).collect();
        !leaves.is_empty()
            && leaves.iter().all(|disk| {
                matches!(
                    disk.kind,
                    DiskKind::Nvme
                        | DiskKind::SataSsd
                        | DiskKind::ScsiSsd
                        | DiskKind::Emmc
                        | DiskKind::SdCard
                        | DiskKind::Virtual
                )
            })
    }

    /// An attribute of a disk's request queue.
    pub fn queue(&self, disk: &WholeDisk, attribute: &str) -> Option<String> {
        let folder = self.root.join("sys/block").join(&disk.name).join("queue");
        sysfs::read(&folder.join(attribute)).ok()
    }

    /// Whether a disk takes discards.
    pub fn takes_discards(&self, disk: &WholeDisk) -> bool {
        self.queue(disk, "discard_max_bytes").is_some_and(|most| most != "0")
    }

    /// The filesystems for files of this machine that are mounted to be written, with their disks:
    /// those whose upkeep checks are about.
    pub fn writable(&self) -> impl Iterator<Item = (&Mount, &WholeDisk)> {
        const KINDS: [&str; 6] = ["ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs"];
        let is_own = |mount: &&Mount| KINDS.contains(&mount.kind.as_str()) && !has(mount, "ro");
        let with_disk = |mount| Some((mount, self.disk_of(mount)?));
        self.mounts.iter().filter(is_own).filter_map(with_disk)
    }

    /// Those of [`Self::writable`] whose disks are flash.
    pub fn on_flash(&self) -> impl Iterator<Item = (&Mount, &WholeDisk)> {
        self.writable().filter(|(_, disk)| self.is_on_flash(disk))
    }
}

/// Whether a filesystem is mounted with an option.
pub fn has(mount: &Mount, option: &str) -> bool {
    mount.options.iter().any(|own| own == option)
}

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
