//! Filesystems that commit more often than by default, or at each write.
//!
//! Evidence: Documentation/admin-guide/ext4.rst on `commit` (5 s by default), btrfs(5) (30 s);
//! mount(8) on `sync`; the plan `raspberry`, which counts what an interval saves.

use ssdlab_host::mounts::Mount;

use super::super::finding::{AdviceGrade, CheckName, FindingState, SetupFinding};
use super::super::machine::{InspectedMachine, has};

pub fn check(machine: &InspectedMachine<'_>) -> Vec<SetupFinding> {
    machine.on_flash().filter_map(|(mount, _)| finding(mount)).collect()
}

fn finding(mount: &Mount) -> Option<SetupFinding> {
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
