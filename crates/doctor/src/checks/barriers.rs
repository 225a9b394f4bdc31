//! Mounts that send no flushes.
//!
//! Evidence: Documentation/admin-guide/ext4.rst on `barrier`, and the plan `power-loss`: with
//! `nobarrier` on a drive without capacitors, synced files are lost and ext4 may not be mounted.

use super::super::finding::{AdviceGrade, CheckName, FindingState, SetupFinding};
use super::super::machine::{InspectedMachine, has};

pub fn check(machine: &InspectedMachine<'_>) -> Vec<SetupFinding> {
    let options = ["nobarrier", "barrier=0"];
    let off = machine.writable().filter_map(|(mount, disk)| {
        // Nothing is to be flushed where the drive says that its cache keeps everything.
        let leaves = machine.stack(disk);
        let is_volatile = |attribute: &str| attribute == "write back";
        let mut caches = leaves.iter().filter_map(|disk| machine.queue(disk, "write_cache"));
        let option = options.iter().find(|option| has(mount, option))?;
        caches.any(|cache| is_volatile(&cache)).then_some((mount, option))
    });
    let finding = |(mount, option): (&ssdlab_host::mounts::Mount, &&str)| SetupFinding {
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
