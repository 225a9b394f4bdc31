//! Checks of what is mounted, and how.

use std::fs::File;
use std::path::Path;

use rustix::fs::IFlags;
use ssdlab_host::mounts::{self, Mount};
use ssdlab_host::whole_disk::{DiskKind, WholeDisk};

use super::super::finding::{AdviceGrade, CheckName, FindingState, SetupFinding};
use super::super::machine::{InspectedMachine, has};

/// Mounts that send no flushes.
///
/// Evidence: Documentation/admin-guide/ext4.rst on `barrier`, and the plan `power-loss`: with
/// `nobarrier` on a drive without capacitors, synced files are lost and ext4 may not be mounted.
pub fn barriers(machine: &InspectedMachine<'_>) -> Vec<SetupFinding> {
    let options = ["nobarrier", "barrier=0"];
    let off = machine.writable().filter_map(|(mount, disk)| {
        // Nothing is to be flushed where the drive says that its cache keeps everything.
        let leaves = machine.stack(disk);
        let is_volatile = |attribute: &str| attribute == "write back";
        let mut caches = leaves.iter().filter_map(|disk| machine.queue(disk, "write_cache"));
        let option = options.iter().find(|option| has(mount, option))?;
        caches.any(|cache| is_volatile(&cache)).then_some((mount, option))
    });
    let finding = |(mount, option): (&Mount, &&str)| SetupFinding {
        id: CheckName::Barriers,
        subject: mount.target.display().to_string(),
        state: FindingState::ToDo,
        grade: AdviceGrade::Lab,
        why: format!(
            "It is mounted with {option}, and the drive has a cache that a power cut empties: \
             synced files are lost, and the filesystem may be."
        ),
        remedy: format!("remove {option} from its line in /etc/fstab, and mount it anew"),
        risk: None,
    };
    off.map(finding).collect()
}

/// Mounts on which each read writes.
///
/// Evidence: mount(8) on `strictatime` and `relatime`; the plans `journal` and `wear`, which count
/// the bytes of access times.
pub fn access_times(machine: &InspectedMachine<'_>) -> Vec<SetupFinding> {
    // The table shows strict access times by neither of these.
    let is_strict = |mount| !has(mount, "relatime") && !has(mount, "noatime");
    let strict = machine.on_flash().filter(|(mount, _)| is_strict(mount));
    let finding = |target: String| {
        SetupFinding {
        id: CheckName::AccessTimes,
        subject: target,
        state: FindingState::ToDo,
        grade: AdviceGrade::Lab,
        why: "It is mounted with strictatime: each read of a file writes its access time."
            .to_owned(),
        remedy: "remove strictatime from its line in /etc/fstab; relatime is the default"
            .to_owned(),
        risk: Some(
            "A program that compares access times exactly, as some for mail in one file per folder \
             do, sees them up to a day late."
                .to_owned(),
        ),
    }
    };
    strict.map(|(mount, _)| finding(mount.target.display().to_string())).collect()
}

/// Filesystems that commit more often than by default, or at each write.
///
/// Evidence: Documentation/admin-guide/ext4.rst on `commit` (5 s by default), btrfs(5) (30 s);
/// mount(8) on `sync`; the plan `raspberry`, which counts what an interval saves.
pub fn commit_interval(machine: &InspectedMachine<'_>) -> Vec<SetupFinding> {
    machine.on_flash().filter_map(|(mount, _)| short_interval(mount)).collect()
}

fn short_interval(mount: &Mount) -> Option<SetupFinding> {
    let default_s = if mount.kind == "btrfs" { 30 } else { 5 };
    let of = |option: &String| option.strip_prefix("commit=")?.parse::<u64>().ok();
    // 0 stands for the default.
    let short = mount.options.iter().filter_map(of).find(|own| (1..default_s).contains(own));
    let (option, why) = match short {
        _ if has(mount, "sync") => ("sync".to_owned(), "each write waits for the drive".to_owned()),
        Some(own) => (
            format!("commit={own}"),
            format!("what changes is written every {own} s instead of every {default_s} s"),
        ),
        None => return None,
    };
    Some(SetupFinding {
        id: CheckName::CommitInterval,
        subject: mount.target.display().to_string(),
        state: FindingState::ToDo,
        grade: AdviceGrade::Lab,
        why: format!("It is mounted with {option}: {why}."),
        remedy: format!("remove {option} from its line in /etc/fstab"),
        risk: Some(format!(
            "In a power cut programs that do not sync lose up to {default_s} s of work."
        )),
    })
}

/// The least free share, in percent.
const LEAST_PERCENT: f64 = 5.0;

/// Filesystems without space for the drive and for themselves.
///
/// Evidence: the plan `overprovision`: a drive that is overwritten at random wears the faster the
/// less of it is free. All allocators slow down and fragment when little is left.
pub fn free_space(machine: &InspectedMachine<'_>) -> Vec<SetupFinding> {
    let full = machine.on_flash().filter_map(|(mount, _)| {
        let space = machine.space(mount)?;
        let free = space.free as f64 / space.size.max(1) as f64 * 100.0;
        (free < LEAST_PERCENT).then_some((mount, free))
    });
    let finding = |target: String, free: f64| SetupFinding {
        id: CheckName::FreeSpace,
        subject: target,
        state: FindingState::ToDo,
        grade: AdviceGrade::Lab,
        why: format!(
            "Only {free:.0} % of it is free: files fragment, and the drive has less to wear evenly."
        ),
        remedy: "delete or move files until a tenth is free, and trim it: fstrim".to_owned(),
        risk: None,
    };
    full.map(|(mount, free)| finding(mount.target.display().to_string(), free)).collect()
}

/// A filesystem in an image on btrfs, which copies each block that the inner one overwrites.
///
/// Evidence: btrfs(5) on `nodatacow`; the plan `proxmox`, which counts what is written below.
pub fn image_on_btrfs(machine: &InspectedMachine<'_>) -> Vec<SetupFinding> {
    let mounted = machine.writable();
    mounted.filter_map(|(mount, disk)| copied_image(machine, &mount.kind, disk)).collect()
}

fn copied_image(
    machine: &InspectedMachine<'_>,
    inner: &str,
    disk: &WholeDisk,
) -> Option<SetupFinding> {
    let file = disk.backing.as_ref()?;
    let outer = mounts::holding(&machine.mounts, file)?;
    let copies = copies(&machine.root.join(file.strip_prefix("/").ok()?));
    if outer.kind != "btrfs" || has(outer, "nodatacow") || copies == Some(false) {
        return None;
    }
    let unless =
        if copies.is_none() { ", unless lsattr shows that it has the attribute C" } else { "" };
    let twice = if inner == "btrfs" { " Both copy on write, so it is copied twice." } else { "" };
    Some(SetupFinding {
        id: CheckName::ImageOnBtrfs,
        subject: file.display().to_string(),
        state: FindingState::ToDo,
        grade: AdviceGrade::Lab,
        why: format!(
            "It is an image with {inner} on btrfs, which writes many times what the inner \
             filesystem does{unless}.{twice}"
        ),
        remedy: "copy it into an empty file that was made with chattr +C".to_owned(),
        risk: Some("btrfs then keeps no checksums of the image, and does not compress it.".into()),
    })
}

/// Whether a file copies on write; `None` if this process may not ask.
fn copies(file: &Path) -> Option<bool> {
    let flags = rustix::fs::ioctl_getflags(File::open(file).ok()?).ok()?;
    Some(!flags.contains(IFlags::NOCOW))
}

/// Swap that discards each page which it frees.
///
/// Evidence: swapon(8) on `--discard`: `pages` discards freed pages before they are used again, and
/// may hurt on drives where a discard is slow; `once` trims the area when it is switched on. What a
/// discard costs: the plans `discard` and `trim-today`.
pub fn swap_discard(machine: &InspectedMachine<'_>) -> Vec<SetupFinding> {
    let discards = |option: &String| option == "discard" || option == "discard=pages";
    // In memory a discard frees memory.
    let is_memory = |source: &str| {
        let name = source.strip_prefix("/dev/").and_then(|name| machine.disk_named(name));
        name.is_some_and(|disk| disk.kind == DiskKind::Memory)
    };
    let swap = machine.fstab.iter().filter(|line| line.kind == "swap" && !is_memory(&line.source));
    let found = swap.filter(|line| line.options.iter().any(discards));
    let finding = |source: &str| SetupFinding {
        id: CheckName::SwapDiscard,
        subject: format!("swap on {source}"),
        state: FindingState::ToDo,
        grade: AdviceGrade::Fact,
        why: "Its option discard sends a discard for the pages that it frees, while programs wait \
              for memory."
            .to_owned(),
        remedy: "in /etc/fstab write discard=once instead: it trims the area at each boot"
            .to_owned(),
        risk: None,
    };
    if machine.swap_areas.is_empty() {
        return Vec::new();
    }
    found.map(|line| finding(&line.source)).collect()
}
