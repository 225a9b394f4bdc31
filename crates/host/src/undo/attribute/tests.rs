//! What runs set is accepted, and nothing beside it.

use super::*;

#[test]
fn what_a_lab_sets_may_be_undone() {
    let disks = [
        "/sys/devices/virtual/block/loop0",
        "/sys/devices/pci0000:00/0000:00:1d.0/nvme/nvme0/nvme0n1",
    ];
    for disk in disks.map(Path::new) {
        for (attribute, before, after) in [
            (Attribute::Counters, "0", "1"),
            (Attribute::Scheduler, "mq-deadline", "none"),
            (Attribute::Tunable("read_expire"), "500", "100"),
            (Attribute::Requests, "256", "64"),
            (Attribute::AsyncDepth, "192", "40"),
            (Attribute::QueueWriteCache, "write back", "write through"),
            (Attribute::CacheType, "write through", "write back"),
        ] {
            let path = attribute.of_disk(disk);
            assert_eq!(Attribute::at(&path), Some(attribute));
            assert!(is_settable(&path, before, after), "{}", path.display());
        }
    }
}

#[test]
fn a_journal_cannot_have_anything_else_written() {
    let disk = "/sys/devices/virtual/block/loop0";
    let cases = [
        ("queue/wbt_lat_usec", "128"),
        ("queue/read_ahead_kb", "max"),
        ("queue/nomerges", "3"),
        ("queue/max_sectors_kb", "4"),
        ("queue/iosched/../nr_requests", "4"),
        ("queue/nr_requests", "max"),
        ("queue/iosched/a/b", "4"),
        ("queue/iosched/read_expire", "x"),
        ("queue/scheduler", "none\nbfq"),
        ("queue/scheduler", ""),
        ("queue/iostats", "2"),
        ("queue/write_cache", "none"),
        ("device/delete", "1"),
        ("ro", "1"),
    ];
    for (attribute, value) in cases {
        let path = Path::new(disk).join(attribute);
        assert!(!is_settable(&path, value, value), "{attribute} {value}");
        assert!(!is_tuning(&path, value), "{attribute} {value}");
    }
    for path in [
        "/sys/queue/iostats",
        "/sys/kernel/queue/iostats",
        "/sys/module/queue/iostats",
        "/sys/devices/queue/iostats",
        "/etc/sys/devices/a/b/queue/iostats",
        "/sys/devices/../../etc/queue/iostats",
        "sys/devices/a/b/queue/iostats",
    ] {
        assert!(!is_settable(Path::new(path), "1", "1"), "{path}");
    }
}
