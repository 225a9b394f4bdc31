//! A filesystem in an image on btrfs, which copies each block that the inner one overwrites.
//!
//! Evidence: btrfs(5) on `nodatacow`; the plan `proxmox`, which counts what is written below.

use std::fs::File;
use std::path::Path;

use rustix::fs::IFlags;
use ssdlab_host::mounts;
use ssdlab_host::whole_disk::WholeDisk;

use super::super::finding::{AdviceGrade, CheckName, FindingState, SetupFinding};
use super::super::machine::{InspectedMachine, has};

pub fn check(machine: &InspectedMachine<'_>) -> Vec<SetupFinding> {
    let mounted = machine.writable();
    mounted.filter_map(|(mount, disk)| finding(machine, &mount.kind, disk)).collect()
}

fn finding(machine: &InspectedMachine<'_>, inner: &str, disk: &WholeDisk) -> Option<SetupFinding> {
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
