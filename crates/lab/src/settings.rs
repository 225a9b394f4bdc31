//! Settings of a block device: the scheduler and the write cache, set, read back and recorded.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use ssdlab_host::drive_identity::{self, DriveIdentity, only_disk_named};
use ssdlab_host::sysfs::{self, BlockDevice};
use ssdlab_host::undo::{Attribute, Change};
use ssdlab_plan::Setup;

use super::{LabError, Tools};

/// Queue attributes recorded with every trial, whether set or not.
const RECORDED: [&str; 8] = [
    "scheduler",
    "write_cache",
    "rotational",
    "logical_block_size",
    "physical_block_size",
    "discard_granularity",
    "discard_max_bytes",
    "nr_requests",
];

/// Sets what the treatment asks for and returns every recorded setting as the kernel has it.
pub(super) fn apply(
    device: &BlockDevice,
    setup: &Setup,
    tools: &mut Tools<'_>,
) -> Result<BTreeMap<String, String>, LabError> {
    // Without these counters the device cannot be measured.
    let disk = device.disk_folder();
    set(&Attribute::Counters.of_disk(&disk), "the device's counters", "1", tools)?;
    // The number of requests is tuning, and changes other tuning.
    let has_tuning = !setup.tunables.is_empty() || setup.queue.contains_key("nr_requests");
    if setup.scheduler.is_some() || has_tuning {
        keep_tuning(&disk, setup, has_tuning, tools)?;
    }
    if let Some(scheduler) = setup.scheduler {
        let attribute = Attribute::Scheduler.of_disk(&disk);
        set(&attribute, "the I/O scheduler", scheduler, tools)
            .map_err(|error| unless_offered(error, &attribute, scheduler, &device.name))?;
    }
    for (name, value) in &setup.queue {
        let attribute = Attribute::of_queue(name).expect("levels name attributes that runs set");
        set(&attribute.of_disk(&disk), name, &value.to_string(), tools)?;
    }
    let mut applied = BTreeMap::new();
    for (name, value) in &setup.tunables {
        let attribute = Attribute::Tunable(name).of_disk(&disk);
        if !attribute.exists() {
            let scheduler = setup.scheduler.unwrap_or("scheduler");
            return Err(LabError::Unavailable {
                reason: format!("this kernel's {scheduler} has no {name}"),
            });
        }
        fs::write(&attribute, value.to_string()).map_err(LabError::step("set", &attribute))?;
    }
    // Read back last: one may change another, as bfq's strict_guarantees raises slice_idle.
    for (name, value) in &setup.tunables {
        let attribute = Attribute::Tunable(name).of_disk(&disk);
        let found = sysfs::read(&attribute).map_err(LabError::step("read", &attribute))?;
        let (name, value) = (format!("scheduler.{name}"), value.to_string());
        if found != value {
            return Err(LabError::Mismatch { what: name, asked: value, found });
        }
        applied.insert(name, value);
    }
    if let Some(on) = setup.write_cache {
        set_write_cache(device, if on { "write back" } else { "write through" }, tools)?;
    }
    applied.extend(setup.queue.iter().map(|(name, value)| (name.clone(), value.to_string())));
    applied.extend(recorded(device));
    Ok(applied)
}

/// Journals the tuning of a queue that the kernel changes when it switches to another scheduler, or
/// may change when a tunable is set: itself, or another. It is put back once the scheduler is the
/// same again.
fn keep_tuning(
    disk: &Path,
    setup: &Setup,
    has_tuning: bool,
    tools: &mut Tools<'_>,
) -> Result<(), LabError> {
    let attribute = Attribute::Scheduler.of_disk(disk);
    let text = sysfs::read(&attribute).map_err(LabError::step("read", &attribute))?;
    let former = sysfs::selected(&text);
    if !has_tuning && setup.scheduler == Some(&*former) {
        return Ok(());
    }
    for (path, before) in Attribute::tuning(disk) {
        let (disk, scheduler) = (sysfs::disk_sequence(&path), former.clone());
        let journaled = tools.journal.will(Change::Tuning { path, disk, scheduler, before });
        journaled.map_err(LabError::step("journal the tuning of", &attribute))?;
    }
    Ok(())
}

/// The recorded settings of a device.
pub(super) fn recorded(device: &BlockDevice) -> BTreeMap<String, String> {
    let value = |name: &&str| {
        let text = sysfs::read(&device.queue_attribute(name)).ok()?;
        Some(((*name).to_owned(), sysfs::selected(&text)))
    };
    RECORDED.iter().filter_map(value).collect()
}

/// Switches the write cache. A SCSI, ATA or virtio disk reports its state, which detects a drive
/// that ignores the switch (unlike `hdparm -W0` in founding post 2). A loop device's cache is the
/// kernel's own. For other drives, `queue/write_cache` would only stop flushes and leave the cache
/// on, so the level is unavailable.
fn set_write_cache(
    device: &BlockDevice,
    value: &str,
    tools: &mut Tools<'_>,
) -> Result<(), LabError> {
    let what = "the write cache";
    let disk = device.disk_folder();
    if let Some(attribute) = sysfs::scsi_cache_type(&disk).filter(|path| path.exists()) {
        // It may survive a reboot, after which the kernel name may belong to another drive.
        let disks = Path::new(drive_identity::DISKS);
        let name = DriveIdentity::read(&disk).name();
        let Some(drive) = name.filter(|name| only_disk_named(disks, name).is_some()) else {
            return Err(LabError::Unavailable {
                reason: format!(
                    "{} has no WWID or serial of its own by which its write cache could be \
                     restored after a crash",
                    device.name
                ),
            });
        };
        let after = value.to_owned();
        return set_by(&attribute, what, value, tools, |before| Change::WriteCache {
            drive,
            before,
            after,
        });
    }
    let is_loop = device.name.starts_with("loop");
    let of_loop = is_loop.then(|| Attribute::QueueWriteCache.of_disk(&disk));
    let candidates = [Some(Attribute::CacheType.of_disk(&disk)), of_loop];
    match candidates.into_iter().flatten().find(|path| path.exists()) {
        Some(attribute) => set(&attribute, what, value, tools),
        None => Err(LabError::Unavailable {
            reason: format!("the kernel cannot switch the write cache of {}", device.name),
        }),
    }
}

/// Writes a value that ends with the boot, and reads it back.
fn set(attribute: &Path, what: &str, value: &str, tools: &mut Tools<'_>) -> Result<(), LabError> {
    let (path, after) = (attribute.to_owned(), value.to_owned());
    let disk = sysfs::disk_sequence(attribute);
    set_by(attribute, what, value, tools, |before| Change::Sysfs { path, disk, before, after })
}

/// Writes a value and reads it back; the change to journal is made from the value before.
pub(super) fn set_by(
    attribute: &Path,
    what: &str,
    value: &str,
    tools: &mut Tools<'_>,
    change: impl FnOnce(String) -> Change,
) -> Result<(), LabError> {
    let read = || sysfs::read(attribute).map(|text| sysfs::selected(&text));
    let before = read().map_err(LabError::step("read", attribute))?;
    if before == value {
        return Ok(());
    }
    let change = change(before.clone());
    tools.journal.will(change).map_err(LabError::step("journal the setting of", attribute))?;
    fs::write(attribute, value).map_err(LabError::step("set", attribute))?;
    let found = read().map_err(LabError::step("read", attribute))?;
    if found == value {
        return Ok(());
    }
    // Undoing leaves alone what is neither the value before nor the one that was asked for.
    fs::write(attribute, before).map_err(LabError::step("set back", attribute))?;
    Err(LabError::Mismatch { what: what.to_owned(), asked: value.to_owned(), found })
}

/// `EINVAL` means that the kernel has no such scheduler.
fn unless_offered(error: LabError, attribute: &Path, scheduler: &str, device: &str) -> LabError {
    match error {
        LabError::Step { cause, .. } if cause.kind() == io::ErrorKind::InvalidInput => {
            let offered = sysfs::read(attribute).unwrap_or_default();
            LabError::Unavailable {
                reason: format!("this kernel has no {scheduler} for {device}: it offers {offered}"),
            }
        }
        other => other,
    }
}
