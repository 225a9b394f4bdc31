use std::fs;

use ssdlab_host::meter::smart;
use tempfile::TempDir;

use super::drive_writes::{CountedSince, WearAdvice, YearsLeft};
use super::*;

#[path = "../../../../../tests/common/described_machine.rs"]
mod described_machine;

const LAPTOP: &str = include_str!("machines/laptop.txt");
const SATA: &str = include_str!("machines/sata.txt");
const PI: &str = include_str!("machines/pi.txt");
const SERVER: &str = include_str!("machines/server.txt");
const VIRTIO: &str = include_str!("machines/virtio.txt");

const DAY_S: u64 = 86_400;

/// A machine in a folder.
struct Fake {
    folder: TempDir,
    since_boot_s: u64,
    is_root: bool,
}

impl Fake {
    fn new(text: &str, since_boot_s: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        described_machine::write(folder.path(), text);
        Self { folder, since_boot_s, is_root: false }
    }

    fn with_root(self) -> Self {
        Self { is_root: true, ..self }
    }

    fn write(&self, path: &str, text: &str) {
        fs::write(self.folder.path().join(path), text).unwrap();
    }

    fn try_read(&self, target: Option<&str>) -> Result<SinceBoot, Report> {
        let answer = fs::read_to_string(self.folder.path().join("smartctl")).ok();
        let machine = MachineView {
            root: self.folder.path().to_owned(),
            since_boot_s: self.since_boot_s,
            awake_s: self.since_boot_s,
            is_root: self.is_root,
            has_smartctl: answer.is_some(),
            ask: &|_| answer.as_deref().and_then(smart::parse_smartctl),
        };
        reading::read(&machine, target.map(Path::new))
    }

    fn read(&self, target: Option<&str>) -> SinceBoot {
        self.try_read(target).unwrap()
    }

    /// The screen, which must fit.
    fn screen(&self, target: Option<&str>) -> String {
        let found = self.read(target);
        let text = screen::screen(&found);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.iter().all(|line| line.chars().count() <= 80), "{text}");
        assert!(found.devices.len() > 1 || lines.len() <= 16, "{text}");
        text
    }
}

#[test]
fn the_screen_of_a_laptop() {
    insta::assert_snapshot!(Fake::new(LAPTOP, 12 * DAY_S).screen(None));
}

#[test]
fn the_screen_of_a_sata_drive_with_vendors_attributes() {
    let machine = Fake::new(SATA, 30 * DAY_S);
    insta::assert_snapshot!("sata_as_nobody", machine.screen(None));
    insta::assert_snapshot!("sata_as_root", machine.with_root().screen(None));
}

#[test]
fn the_screens_of_a_raspberry_pi() {
    let machine = Fake::new(PI, 90 * DAY_S);
    insta::assert_snapshot!("pi_emmc", machine.screen(Some("mmcblk0")));
    // It was put in half an hour before the machine had run for six days.
    let machine = Fake::new(PI, 500_000 + 1800);
    insta::assert_snapshot!("pi_sd_card", machine.screen(Some("mmcblk1")));
}

#[test]
fn the_screens_of_a_server() {
    let machine = Fake::new(SERVER, 200 * DAY_S).with_root();
    insta::assert_snapshot!("server_one_drive", machine.screen(Some("nvme0n1")));
    insta::assert_snapshot!("server", machine.screen(None));
}

#[test]
fn the_screen_of_a_virtual_machine() {
    let machine = Fake::new(VIRTIO, 85_437);
    insta::assert_snapshot!("virtio", machine.screen(None));
    insta::assert_snapshot!("loop_that_does_not_count", machine.screen(Some("loop0")));
}

#[test]
fn other_forms_of_a_laptop() {
    let machine = Fake::new(LAPTOP, 12 * DAY_S);
    let found = machine.read(Some("/boot"));
    insta::assert_snapshot!("laptop_markdown", markdown::markdown(&found));
    insta::assert_snapshot!("laptop_prometheus", prometheus::prometheus(&found));
    insta::assert_snapshot!("laptop_json", serde_json::to_string_pretty(&found).unwrap());
    assert_eq!(found.devices[0].named.as_ref().unwrap().device, "nvme0n1p2");
}

#[test]
fn rows_and_the_rest_are_the_counter() {
    for (text, days) in [(LAPTOP, 12), (SATA, 30), (PI, 90), (SERVER, 200), (VIRTIO, 1)] {
        for drive in Fake::new(text, days * DAY_S).read(None).devices {
            let rows: u64 = drive.rows.iter().map(|row| row.bytes).sum();
            assert_eq!(drive.attributed_bytes, rows);
            assert_eq!(rows + drive.unseen_bytes, drive.counter_bytes, "{}", drive.device);
        }
    }
}

#[test]
fn an_nvme_drive_is_read_without_smartctl() {
    let says = |machine: &Fake| {
        let found = machine.read(None);
        wording::wear(&found, &found.devices[0]).unwrap()
    };
    let machine = Fake::new(LAPTOP, 12 * DAY_S);
    assert_eq!(says(&machine), "only root can read it: sudo ssdlab who nvme0n1; 41\u{a0}\u{b0}C");
    let refused = says(&machine.with_root());
    assert_eq!(refused, "the drive's own log cannot be read here; 41\u{a0}\u{b0}C");
}

/// Neither a rate nor years are extrapolated from what is too short for them.
#[test]
fn rates_need_an_hour_and_years_a_day() {
    let of = |seconds| Fake::new(LAPTOP, seconds).read(None).devices.remove(0);
    let short = of(1800);
    assert_eq!((short.bytes_per_day, short.life), (None, None));
    assert!(wording::written(&short).ends_with("30 minutes ago: too soon for a rate"));
    let some = of(6 * 3600);
    assert_eq!((some.bytes_per_day.is_some(), some.life), (true, None));
    assert!(wording::written(&some).ends_with("a day at that pace"));
    assert!(matches!(of(2 * DAY_S).life, Some(YearsLeft::Rating { .. })));
}

#[test]
fn a_drive_that_was_connected_later_counts_from_then() {
    let machine = Fake::new(PI, 500_000 + 7200);
    let card = machine.read(Some("mmcblk1")).devices.remove(0);
    assert_eq!((card.since, card.seconds), (CountedSince::Connected, Some(7200)));
    // After a suspend it is not known when that was.
    let slept = MachineView {
        root: machine.folder.path().to_owned(),
        since_boot_s: machine.since_boot_s + 5000,
        awake_s: machine.since_boot_s,
        is_root: false,
        has_smartctl: false,
        ask: &|_| None,
    };
    let card = reading::read(&slept, Some(Path::new("mmcblk1"))).unwrap().devices.remove(0);
    assert_eq!((card.seconds, card.bytes_per_day), (None, None));
}

#[test]
fn a_drive_that_is_worn_or_failing_is_to_be_replaced() {
    let machine = Fake::new(PI, 90 * DAY_S);
    machine.write("sys/block/mmcblk0/device/pre_eol_info", "0x03\n");
    let found = machine.read(Some("mmcblk0"));
    assert_eq!(found.devices[0].advice, WearAdvice::Replace);
    machine.write("sys/block/mmcblk0/device/life_time", "0x0b 0x01\n");
    let text = machine.screen(Some("mmcblk0"));
    assert!(text.contains("100 % used or more, 90 % of the spare blocks used"), "{text}");
}

/// What a service is counted for may exceed what the device counted.
#[test]
fn more_than_the_counter_is_said() {
    let machine = Fake::new(LAPTOP, 12 * DAY_S);
    machine.write("sys/block/nvme0n1/stat", "0 0 0 0 10 0 2000 0 0 0 0 0 0 0 0 0 0\n");
    assert!(machine.screen(None).contains("they wrote more than was counted"));
}

#[test]
fn without_any_drive_the_host_is_to_be_asked() {
    let machine = Fake::new("proc/self/mountinfo = ", 1000);
    assert_eq!(machine.screen(None), "No drive is visible in /sys/block: ask on the host.\n");
}

#[test]
fn in_a_container_only_its_own_cgroups_are_seen() {
    let machine = Fake::new(LAPTOP, 12 * DAY_S);
    machine.write("sys/fs/cgroup/cgroup.events", "populated 1\n");
    assert!(machine.screen(None).contains("Only cgroups of this container are seen"));
}

#[test]
fn a_target_without_a_drive_is_refused_with_the_reason() {
    let machine = Fake::new(VIRTIO, 85_437);
    for (target, says) in [
        ("/nowhere/at/all", "No such file or directory"),
        ("/dev/nowhere", "No such file or directory"),
        ("vdz", "No such file or directory"),
        ("/scratch", "tmpfs on /scratch is kept in memory"),
        ("/var/lib/docker/overlay2/x/merged", "lies on a folder that is not visible from here"),
    ] {
        let error = machine.try_read(Some(target)).unwrap_err();
        assert!(error.to_string().contains(says), "{target}: {error}");
        let help = error.help().unwrap().to_string();
        assert_eq!(help, "name a drive or a mount point; this machine has vda; above them loop0");
    }
}

/// Each name comes from another, who may have chosen it to mislead.
#[test]
fn labels_of_prometheus_are_escaped() {
    let machine = Fake::new(LAPTOP, 12 * DAY_S);
    let hostile = "sys/fs/cgroup/system.slice/a\"b\\c.service";
    fs::create_dir(machine.folder.path().join(hostile)).unwrap();
    machine.write(&format!("{hostile}/io.stat"), "259:0 rbytes=0 wbytes=4096\n");
    let text = prometheus::prometheus(&machine.read(None));
    assert!(text.contains(r#"cgroup="system.slice/a\"b\\c.service"} 4096"#), "{text}");
}

#[test]
fn the_schema_describes_the_output() {
    let schema = serde_json::to_value(schemars::schema_for!(SinceBoot)).unwrap();
    let found = serde_json::to_value(Fake::new(LAPTOP, 12 * DAY_S).read(None)).unwrap();
    let known = |of: &serde_json::Value, names: &serde_json::Value| {
        for key in of.as_object().unwrap().keys() {
            assert!(names.get(key).is_some(), "{key}");
        }
    };
    known(&found, &schema["properties"]);
    known(&found["devices"][0], &schema["$defs"]["DriveWrites"]["properties"]);
}
