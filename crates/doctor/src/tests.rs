use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::*;

#[path = "../../../tests/common/described_machine.rs"]
mod described_machine;

const LUKS: &str = include_str!("machines/debian-luks.txt");
const SATA: &str = include_str!("machines/ubuntu-sata.txt");
const BTRFS: &str = include_str!("machines/fedora-btrfs.txt");
const RASPBERRY: &str = include_str!("machines/raspberry.txt");
const PROXMOX: &str = include_str!("machines/proxmox.txt");
const CLOUD: &str = include_str!("machines/cloud.txt");
const CONTAINER: &str = include_str!("machines/container.txt");

/// A fifth is free.
const ROOMY: SpaceUse = SpaceUse { size: 100_000_000_000, free: 20_000_000_000 };

/// 2026-11-28.
const NOW_S: u64 = 1_795_824_000;

/// What is found on a machine, with its space.
fn found_with(text: &str, space: SpaceUse) -> Vec<SetupFinding> {
    let folder = TempDir::new().unwrap();
    described_machine::write(folder.path(), text);
    let space = move |_: &Path| Some(space);
    examine(&InspectedMachine::read(folder.path(), NOW_S, &space).unwrap())
}

fn found(text: &str) -> Vec<SetupFinding> {
    found_with(text, ROOMY)
}

/// The machine with some lines replaced and others added.
fn planted(machine: &str, replaced: &[(&str, &str)], added: &str) -> String {
    let mut text = machine.to_owned();
    for (old, new) in replaced {
        assert!(text.contains(old), "{old}");
        text = text.replace(old, new);
    }
    text + added
}

/// The one thing that is found.
fn only(text: &str) -> (CheckName, String) {
    let found = found(text);
    let [finding] = &found[..] else { panic!("{found:#?}") };
    assert_eq!(finding.state, FindingState::ToDo, "{finding:?}");
    (finding.id, finding.subject.clone())
}

#[test]
fn nothing_is_to_be_done_on_a_plain_machine() {
    for machine in [LUKS, SATA, BTRFS, RASPBERRY, PROXMOX, CLOUD] {
        assert_eq!(found(machine), [], "{}", machine.lines().next().unwrap());
    }
}

#[test]
fn a_container_refers_to_its_host() {
    let found = found(CONTAINER);
    let [finding] = &found[..] else { panic!("{found:#?}") };
    assert_eq!(finding.state, FindingState::OnTheHost);
    // A virtual machine that was made of a container's image is none.
    assert_eq!(self::found(&planted(CLOUD, &[], ".dockerenv = \n")), []);
}

#[test]
fn trim_stops_at_luks() {
    let crypt = (
        "sys/block/dm-0/queue/discard_max_bytes = 2199023255040",
        "sys/block/dm-0/queue/discard_max_bytes = 0",
    );
    let above = (
        "sys/block/dm-1/queue/discard_max_bytes = 2199023255040",
        "sys/block/dm-1/queue/discard_max_bytes = 0",
    );
    let text = planted(LUKS, &[crypt, above], "");
    assert_eq!(only(&text), (CheckName::TrimPath, "/".to_owned()));
    let finding = &found(&text)[0];
    assert!(finding.why.contains("LUKS (nvme0n1p3_crypt)"), "{finding:?}");
    assert!(finding.remedy.contains("--allow-discards nvme0n1p3_crypt"), "{finding:?}");
    assert!(finding.risk.is_some());
}

#[test]
fn trim_stops_at_lvm() {
    let above = (
        "sys/block/dm-1/queue/discard_max_bytes = 2199023255040",
        "sys/block/dm-1/queue/discard_max_bytes = 0",
    );
    let text = planted(LUKS, &[above], "");
    assert_eq!(only(&text), (CheckName::TrimPath, "/".to_owned()));
    assert!(found(&text)[0].why.contains("LVM (vg-root)"));
}

#[test]
fn a_virtual_disk_without_discards_is_its_host_s() {
    let none = ("discard_max_bytes = 2147483136", "discard_max_bytes = 0");
    let found = found(&planted(CLOUD, &[none], ""));
    let [finding] = &found[..] else { panic!("{found:#?}") };
    assert_eq!((finding.id, finding.state), (CheckName::TrimPath, FindingState::OnTheHost));
}

#[test]
fn nothing_trims_without_a_timer() {
    let timer = "etc/systemd/system/timers.target.wants/fstrim.timer -> \
                 /usr/lib/systemd/system/fstrim.timer\n";
    let off = planted(SATA, &[(timer, "")], "");
    assert_eq!(only(&off), (CheckName::TrimSchedule, "/".to_owned()));
    // Some distributions do it by cron.
    let cron = planted(SATA, &[(timer, "")], "etc/cron.weekly/fstrim = /sbin/fstrim --all\n");
    assert_eq!(found(&cron), []);
    // btrfs needs no timer.
    assert_eq!(found(&planted(BTRFS, &[(timer, "")], "")), []);
}

#[test]
fn the_timer_leaves_out_what_fstab_does_not_list() {
    let line = ("etc/fstab = UUID=aa / ext4 errors=remount-ro 0 1\n", "");
    assert_eq!(only(&planted(SATA, &[line], "")), (CheckName::TrimSchedule, "/".to_owned()));
    let option = ("/ ext4 errors=remount-ro 0 1\n", "/ ext4 X-fstrim.notrim 0 1\n");
    assert_eq!(only(&planted(SATA, &[option], "")), (CheckName::TrimSchedule, "/".to_owned()));
}

#[test]
fn a_timer_that_does_not_run_is_found() {
    let folder = TempDir::new().unwrap();
    let stamp = "var/lib/systemd/timers/stamp-fstrim.timer";
    described_machine::write(folder.path(), &planted(SATA, &[], &format!("{stamp} = \n")));
    let space = |_: &Path| Some(ROOMY);
    let written = std::fs::metadata(folder.path().join(stamp)).unwrap().modified().unwrap();
    let written_s = written.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    for (days, is_late) in [(6, false), (60, true)] {
        let now_s = written_s + days * 86_400;
        let machine = InspectedMachine::read(folder.path(), now_s, &space).unwrap();
        assert_eq!(!examine(&machine).is_empty(), is_late, "{days}");
    }
}

#[test]
fn swap_that_discards_is_found() {
    let line = (
        "/dev/mapper/vg-swap_1 none swap sw 0 0",
        "/dev/mapper/vg-swap_1 none swap sw,discard 0 0",
    );
    let (id, _) = only(&planted(LUKS, &[line], ""));
    assert_eq!(id, CheckName::SwapDiscard);
    let memory = planted(BTRFS, &[], "etc/fstab = /dev/zram0 none swap sw,discard 0 0\n");
    assert_eq!(found(&memory), []);
    let once = ("none swap sw 0 0", "none swap sw,discard=once 0 0");
    assert_eq!(found(&planted(LUKS, &[once], "")), []);
}

#[test]
fn a_mail_spool_with_strict_access_times_is_found() {
    let spool = "sys/block/dm-3/dev = 254:3\n\
                 sys/block/dm-3/size = 1000\n\
                 sys/block/dm-3/stat = 1 1 1 1 1 1 1 1 0 1 1 1 0 1 1 1 1\n\
                 sys/block/dm-3/queue/discard_max_bytes = 2199023255040\n\
                 sys/block/dm-3/dm/name = vg-mail\n\
                 sys/block/dm-3/slaves/dm-0 = \n\
                 etc/fstab = /dev/mapper/vg-mail /var/mail ext4 strictatime 0 2\n\
                 proc/self/mountinfo = 50 22 254:3 / /var/mail rw - ext4 /dev/mapper/vg-mail rw\n";
    assert_eq!(only(&planted(LUKS, &[], spool)), (CheckName::AccessTimes, "/var/mail".to_owned()));
}

#[test]
fn a_log_that_is_synced_line_by_line_is_found() {
    let added = "etc/systemd/journald.conf.d/sync.conf = [Journal]\n\
                 etc/systemd/journald.conf.d/sync.conf = SyncIntervalSec=1s\n";
    let (id, subject) = only(&planted(LUKS, &[], added));
    assert_eq!((id, &*subject), (CheckName::LogSync, "/etc/systemd/journald.conf.d/sync.conf"));
    assert_eq!(found(&planted(LUKS, &[], &added.replace("=1s", "=1min 30s"))), []);
    // A later file sets it back.
    let back = format!("{added}etc/systemd/journald.conf.d/z.conf = SyncIntervalSec=5m\n");
    assert_eq!(found(&planted(LUKS, &[], &back)), []);
}

#[test]
fn a_full_filesystem_is_found() {
    let full = SpaceUse { size: 1000, free: 20 };
    let found = found_with(RASPBERRY, full);
    let [finding] = &found[..] else { panic!("{found:#?}") };
    assert_eq!(finding.id, CheckName::FreeSpace);
    assert!(finding.why.starts_with("Only 2 %"), "{finding:?}");
}

#[test]
fn frequent_commits_are_found() {
    let ext4 = ("ext4 /dev/mmcblk0p2 rw", "ext4 /dev/mmcblk0p2 rw,commit=1");
    assert_eq!(only(&planted(RASPBERRY, &[ext4], "")), (CheckName::CommitInterval, "/".to_owned()));
    let sync = ("ext4 /dev/mmcblk0p2 rw", "ext4 /dev/mmcblk0p2 rw,sync");
    assert_eq!(only(&planted(RASPBERRY, &[sync], "")), (CheckName::CommitInterval, "/".to_owned()));
    let longer = ("ext4 /dev/mmcblk0p2 rw", "ext4 /dev/mmcblk0p2 rw,commit=600");
    assert_eq!(found(&planted(RASPBERRY, &[longer], "")), []);
}

#[test]
fn a_recorder_of_one_second_commits_is_found() {
    let file = "usr/share/hassio/homeassistant/configuration.yaml";
    let text = |interval: u32| {
        format!(
            "{file} = recorder:\n{file} =   purge_keep_days: 5\n\
             {file} =   commit_interval: {interval}\n{file} = logger:\n"
        )
    };
    let (id, subject) = only(&planted(RASPBERRY, &[], &text(1)));
    assert_eq!((id, subject), (CheckName::RecorderCommits, format!("/{file}")));
    assert_eq!(found(&planted(RASPBERRY, &[], &text(30))), []);
    // It is another integration's.
    let other = format!("{file} = recorder:\n{file} = else:\n{file} =   commit_interval: 1\n");
    assert_eq!(found(&planted(RASPBERRY, &[], &other)), []);
}

#[test]
fn write_caches_that_are_off_or_unknown_are_found() {
    let off = ("cache_type = write back", "cache_type = write through");
    let through = ("queue/write_cache = write back", "queue/write_cache = write through");
    let (id, subject) = only(&planted(SATA, &[off, through], ""));
    assert_eq!((id, &*subject), (CheckName::WriteCache, "/dev/sda"));
    let unknown = found(&planted(SATA, &[through], ""));
    assert!(unknown[0].why.contains("sends no flushes"), "{unknown:?}");
}

#[test]
fn a_misaligned_partition_is_found() {
    let text = planted(SATA, &[("sda1/start = 2048", "sda1/start = 63")], "");
    assert_eq!(only(&text), (CheckName::Alignment, "/dev/sda1".to_owned()));
    let below = planted(LUKS, &[("nvme0n1p3/start = 2050048", "nvme0n1p3/start = 2050049")], "");
    assert_eq!(only(&below), (CheckName::Alignment, "/dev/nvme0n1p3".to_owned()));
}

#[test]
fn barriers_that_are_off_are_found() {
    let text = planted(SATA, &[("ext4 /dev/sda1 rw,", "ext4 /dev/sda1 rw,nobarrier,")], "");
    assert_eq!(only(&text), (CheckName::Barriers, "/".to_owned()));
    // Capacitors make it safe.
    let text = planted(PROXMOX, &[("pve-root rw,", "pve-root rw,nobarrier,")], "");
    assert_eq!(found(&text), []);
}

#[test]
fn an_image_on_btrfs_is_found() {
    let image = "sys/block/loop0/dev = 7:0\n\
                 sys/block/loop0/size = 1000\n\
                 sys/block/loop0/stat = 1 1 1 1 1 1 1 1 0 1 1 1 0 1 1 1 1\n\
                 sys/block/loop0/queue/discard_max_bytes = 4294966784\n\
                 sys/block/loop0/loop/backing_file = /home/me/disk.img\n\
                 sys/fs/btrfs/77aa/devices/loop0 = \n\
                 proc/self/mountinfo = 60 22 0:50 / /mnt \
                 rw,relatime - btrfs /dev/loop0 rw,discard=async\n";
    let (id, subject) = only(&planted(BTRFS, &[], image));
    assert_eq!((id, &*subject), (CheckName::ImageOnBtrfs, "/home/me/disk.img"));
}

#[test]
fn a_worn_emmc_is_found() {
    let text = planted(RASPBERRY, &[], "sys/block/mmcblk0/device/life_time = 0x0a 0x0b\n");
    assert_eq!(only(&text), (CheckName::Wear, "/dev/mmcblk0".to_owned()));
}

#[test]
fn spans_of_systemd_are_read() {
    use super::configuration::systemd_seconds;
    assert_eq!(systemd_seconds("5m"), Some(300.0));
    assert_eq!(systemd_seconds("1min 30s"), Some(90.0));
    assert_eq!(systemd_seconds("20"), Some(20.0));
    assert_eq!(systemd_seconds("soon"), None);
}

#[test]
fn a_stack_ends_where_disks_reach_each_other() {
    let round = "sys/block/loop1/dev = 7:1\n\
                 sys/block/loop1/size = 1000\n\
                 sys/block/loop1/stat = 1 1 1 1 1 1 1 1 0 1 1 1 0 1 1 1 1\n\
                 sys/block/loop1/loop/backing_file = /odd/file\n\
                 proc/self/mountinfo = 61 22 7:1 / /odd rw,relatime - ext4 /dev/loop1 rw\n";
    let folder = TempDir::new().unwrap();
    described_machine::write(folder.path(), &planted(SATA, &[], round));
    let space = |_: &Path| None;
    let machine = InspectedMachine::read(folder.path(), NOW_S, &space).unwrap();
    let odd = machine.disk_named("loop1").unwrap();
    assert_eq!(machine.stack(odd).len(), 1);
    assert!(!machine.is_on_flash(odd));
    assert_eq!(machine.root, PathBuf::from(folder.path()));
}
