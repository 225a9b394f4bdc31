//! Reads what a machine tells of its drives.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use miette::Report;
use rustix::time::{ClockId, clock_gettime};
use ssdlab_host::cgroup_io::{CgroupTree, CgroupWrites, IoAccounting};
use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::meter::smart;
use ssdlab_host::mounts::Mount;
use ssdlab_host::program::{self, Rules};
use ssdlab_host::wear::DriveWear;
use ssdlab_host::whole_disk::{self, DiskKind, WholeDisk};
use ssdlab_host::{cgroup_name, mounts, process_io, processes};

use super::drive_writes::{
    CountedSince, DriveSinceBoot, NamedPartition, SINCE_BOOT_SCHEMA, ServiceRow, SinceBoot,
    StackedDevice,
};
use super::life::{self, LifeInputs};
use super::target;

/// A disk that udev saw later than this after boot, in s, was connected then.
const LATEST_AT_BOOT_S: u64 = 600;

/// By how much the clocks with and without suspend differ, in s, before a suspend is assumed.
const AWAKE_S: u64 = 60;

/// How long smartctl may take to ask a drive.
const SMART_LIMIT: Duration = Duration::from_secs(10);

/// The machine that is read: this one, or a folder that looks like one.
pub struct MachineView<'a> {
    /// The folder that holds `sys`, `proc`, `run`, `etc` and `var`.
    pub root: PathBuf,
    /// Seconds since boot, those in suspend included.
    pub since_boot_s: u64,
    /// The same without suspend.
    pub awake_s: u64,
    /// Whether this is root of the machine, not only of a namespace.
    pub is_root: bool,
    /// Whether smartctl is there.
    pub has_smartctl: bool,
    /// Asks a drive for its own log.
    pub ask: &'a dyn Fn(&Path) -> Option<DriveWear>,
}

impl MachineView<'_> {
    /// This machine.
    pub fn this() -> Self {
        let seconds = |clock| u64::try_from(clock_gettime(clock).tv_sec).unwrap_or(0);
        Self {
            root: PathBuf::from("/"),
            since_boot_s: seconds(ClockId::Boottime),
            awake_s: seconds(ClockId::Monotonic),
            is_root: processes::is_root_of_machine(),
            has_smartctl: program::find("smartctl", "smartmontools").is_ok(),
            ask: &own_log,
        }
    }
}

fn own_log(node: &Path) -> Option<DriveWear> {
    let rules = Rules { marker: "who", limit: SMART_LIMIT, interrupt: &Interrupt::default() };
    smart::read(node, rules)
}

/// Reads what was written to a drive, or to all, since boot.
pub fn read(machine: &MachineView<'_>, target: Option<&Path>) -> Result<SinceBoot, Report> {
    let root = machine.root.as_path();
    let disks = whole_disk::all(root);
    let mounts = whole_disk::mount_table(root).unwrap_or_default();
    let chosen = match target {
        Some(target) => vec![target::resolve(root, &disks, &mounts, target)?],
        None => {
            disks.iter().filter(|disk| !disk.kind.is_layer()).map(|disk| (disk, None)).collect()
        }
    };
    let tree = CgroupTree::find(root, &mounts);
    let surroundings = Surroundings { machine, disks: &disks, mounts: &mounts, tree: &tree };
    let drive =
        |(disk, part): &(&WholeDisk, Option<String>)| surroundings.drive(disk, part.as_ref());
    let version = fs::read_to_string(root.join("proc/sys/kernel/osrelease")).unwrap_or_default();
    Ok(SinceBoot {
        schema: SINCE_BOOT_SCHEMA,
        kernel: version.trim().to_owned(),
        uptime_seconds: machine.since_boot_s,
        is_root: machine.is_root,
        accounting: tree.accounting,
        sees_part_of_cgroups: tree.is_part,
        turn_on: turn_on(root, &tree, &mounts),
        has_smartctl: machine.has_smartctl,
        devices: chosen.iter().map(drive).collect(),
        living: process_io::living(root),
    })
}

/// How to have the kernel count what services write, where that is off. systemd undoes what is
/// written to the cgroups that it manages.
fn turn_on(root: &Path, tree: &CgroupTree, mounts: &[Mount]) -> Option<String> {
    let has_systemd = root.join("run/systemd/system").is_dir();
    let has_v1 = || {
        let of_v1 = mounts.iter().filter(|mount| mount.kind == "cgroup");
        of_v1.flat_map(|mount| &mount.options).any(|option| option == "blkio")
    };
    let says = match tree.accounting {
        IoAccounting::Off if has_systemd => {
            "DefaultIOAccounting=yes below [Manager] in /etc/systemd/system.conf, then sudo \
             systemctl daemon-reload"
        }
        IoAccounting::Off => {
            let file = tree.folder_of("cgroup.subtree_control")?;
            let file = file.strip_prefix(root).unwrap_or(&file);
            return Some(format!("echo +io | sudo tee /{}", file.display()));
        }
        IoAccounting::NoController if has_systemd && has_v1() => {
            "boot with systemd.unified_cgroup_hierarchy=1, as cgroup v1 has it"
        }
        _ => return None,
    };
    Some(says.to_owned())
}

/// What the reading of each drive needs.
struct Surroundings<'a> {
    machine: &'a MachineView<'a>,
    disks: &'a [WholeDisk],
    mounts: &'a [Mount],
    tree: &'a CgroupTree,
}

impl Surroundings<'_> {
    fn drive(&self, disk: &WholeDisk, part: Option<&String>) -> DriveSinceBoot {
        let root = self.machine.root.as_path();
        let (since, seconds) = self.counted(disk);
        let rows = self.rows(disk);
        let written = disk.counters.written_bytes;
        let attributed = rows.iter().map(|row| row.bytes).fold(0, u64::saturating_add);
        let above = whole_disk::layers_above(root, disk, self.disks, self.mounts);
        let below = whole_disk::layers_below(root, disk, self.disks, self.mounts);
        let stack: Vec<&WholeDisk> = std::iter::once(disk).chain(above.iter().copied()).collect();
        let named = part.and_then(|part| {
            let bytes = disk.partition_counters(root, part).ok()?.written_bytes;
            Some(NamedPartition { device: part.clone(), bytes })
        });
        let wear = self.wear(disk);
        // A counter that was off has no rate.
        let bytes_per_day = life::per_day(written, seconds).filter(|_| disk.is_counting);
        let rated_bytes = disk.model.as_deref().and_then(life::rated_bytes);
        let life = life::years_left(LifeInputs {
            kind: disk.kind,
            size_bytes: disk.size_bytes,
            seconds,
            bytes_per_day,
            rated_bytes,
            wear: &wear,
        });
        let file = disk.backing.as_ref().map(|file| mounts::printable(file));
        DriveSinceBoot {
            device: disk.name.clone(),
            device_kind: disk.kind,
            model: disk.model.clone().or(file),
            size_bytes: disk.size_bytes,
            since,
            seconds,
            is_counting: disk.is_counting,
            counter_bytes: written,
            attributed_bytes: attributed,
            unseen_bytes: written.saturating_sub(attributed),
            bytes_per_day,
            write_requests: disk.counters.write_requests,
            discarded_bytes: disk.counters.discarded_bytes,
            discard_requests: disk.counters.discard_requests,
            flushes: disk.counters.flushes,
            rows,
            named,
            filesystems: whole_disk::filesystems(root, &stack, self.mounts),
            above: above.into_iter().map(stacked).collect(),
            layers: below.into_iter().map(stacked).collect(),
            advice: life::advice(disk.kind, &wear, life),
            wear,
            rated_bytes,
            life,
        }
    }

    /// Since when a disk's counters count, and for how many seconds if that is known.
    fn counted(&self, disk: &WholeDisk) -> (CountedSince, Option<u64>) {
        let MachineView { since_boot_s, awake_s, .. } = *self.machine;
        match disk.seen_at_s {
            Some(seen) if seen > LATEST_AT_BOOT_S => {
                // When it was connected is known by a clock that stands still in suspend.
                let was_awake = since_boot_s.saturating_sub(awake_s) < AWAKE_S;
                (CountedSince::Connected, was_awake.then(|| awake_s.saturating_sub(seen)))
            }
            _ => (CountedSince::Boot, Some(since_boot_s)),
        }
    }

    fn rows(&self, disk: &WholeDisk) -> Vec<ServiceRow> {
        let writes = self.tree.writes(&disk.number).into_iter();
        let row = |writes: CgroupWrites| {
            let folder = self.tree.folder_of(&writes.cgroup);
            let name = cgroup_name::name(&self.machine.root, &writes.cgroup, folder.as_deref());
            ServiceRow {
                service: if writes.is_rest { format!("{name}, the rest") } else { name },
                service_kind: writes.kind,
                cgroup: writes.cgroup,
                bytes: writes.written_bytes,
            }
        };
        writes.map(row).collect()
    }

    fn wear(&self, disk: &WholeDisk) -> DriveWear {
        let mut wear = DriveWear::by_sysfs(&self.machine.root, &disk.name);
        // What does not wear is not asked: a hard disk might have to start for it.
        let tells = life::wears(disk.kind) || disk.kind == DiskKind::Usb;
        if self.machine.is_root
            && tells
            && let Some(log) = (self.machine.ask)(&Path::new("/dev").join(&disk.name))
        {
            wear.add(&log);
        }
        wear
    }
}

fn stacked(disk: &WholeDisk) -> StackedDevice {
    let file = || disk.backing.as_ref().map(|file| mounts::printable(file));
    StackedDevice {
        device: disk.name.clone(),
        device_kind: disk.kind,
        name: disk.model.clone().or_else(file),
        bytes: disk.counters.written_bytes,
    }
}
