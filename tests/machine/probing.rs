//! `ssdlab probe` on served drives: it names the drive that is served, or one of its class, and
//! leaves nothing.
//!
//! `make probe-table` serves every shipped drive and prints the table of docs/how-to/probe.md.

use std::fs;
use std::process::{Child, Stdio};

use serde_json::Value;
use ssdlab_flash::Specification;
use ssdlab_flash::presets::{self, Preset};
use ssdlab_flash::probe::{ProbeForecast, ProbeQuestion};

use super::support::{Place, sh, shown, wait_for};
use super::{Case, Needs};

pub fn cases() -> Vec<Case> {
    let case = |name, run: fn()| Case::new(name, Needs::Fuse, run);
    vec![
        case("a_probe_names_served_drives_or_their_class_and_leaves_nothing", names),
        case("a_probe_refuses_a_folder_that_is_full", full),
    ]
}

/// What is served unless `SSDLAB_PROBE_ALL` is set: drives whose latencies are far above what
/// serving takes, each of another class.
const FEW: [&str; 2] = ["emmc", "sata-tlc"];

/// Latencies above this are compared, and what they may differ by.
const COMPARED_NS: f64 = 100_000.0;
const WITHIN: f64 = 0.2;

/// What a served drive holds: with 100 superblocks of a shipped one the memory may not.
const SERVED_BYTES: u64 = 6_000_000_000;

/// A drive's file with smaller superblocks, of which none is collected for what a probe writes; the
/// evidence would contradict them.
fn small(preset: Preset) -> String {
    let whole = Specification::parse(preset.text).unwrap();
    let (pages, bytes) = (whole.pages_per_block, u64::from(whole.page_bytes));
    let pages = pages / whole.superblock;
    let key = |pages: u32| format!("\npages_per_block = {pages}\n");
    let is_large = 100 * u64::from(whole.pages_per_block) * bytes > SERVED_BYTES * 2 / 3;
    let smaller = if is_large { pages / 16 } else { pages };
    let values = preset.text.split("\n[evidence").next().unwrap();
    values.replacen(&key(pages), &key(smaller), 1)
}

/// A served drive with a filesystem, probed once.
struct ProbedServed {
    place: Place,
    server: Child,
    device: String,
}

impl ProbedServed {
    fn new(preset: Preset) -> Self {
        let place = Place::new();
        let [folder, mounted] = ["served", "mounted"].map(|name| place.path(name));
        fs::create_dir(&folder).unwrap();
        fs::create_dir(&mounted).unwrap();
        let drive = place.path("drive.toml");
        fs::write(&drive, small(preset)).unwrap();
        let drive = drive.display().to_string();
        let capacity = preset.capacity_bytes().min(SERVED_BYTES).to_string();
        let mut serve = place.ssdlab(&["serve", "--drive", &drive, "--capacity", &capacity]);
        serve.arg("--fuse").arg(&folder);
        let server = serve.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let disk = folder.join("disk");
        wait_for(|| disk.exists());
        let device = sh(&format!("losetup --find --show --direct-io=on {}", disk.display()));
        sh(&format!(
            "mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0,nodiscard {device}; \
             mount {device} {}",
            mounted.display()
        ));
        Self { place, server, device }
    }

    fn probe(&self) -> Value {
        let mounted = self.place.path("mounted").display().to_string();
        let output = self.place.ssdlab(&["probe", "--json", "--dir", &mounted]).output().unwrap();
        assert!(output.status.success(), "{}", shown(&output));
        let files: Vec<_> = fs::read_dir(&mounted).unwrap().flatten().collect();
        assert_eq!(files.len(), 1, "a file beside lost+found is left");
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

impl Drop for ProbedServed {
    fn drop(&mut self) {
        let mounted = self.place.path("mounted").display().to_string();
        sh(&format!("umount {mounted} || true; losetup --detach {} || true", self.device));
        sh(&format!("kill -TERM {}", self.server.id()));
        let _ = self.server.wait();
    }
}

/// A row of the table: what was named, and whether that is right.
struct ProbedRow {
    is_named: bool,
    is_of_class: bool,
    text: String,
}

impl ProbedRow {
    fn of(preset: Preset) -> Self {
        let found = ProbedServed::new(preset).probe();
        let closest = &found["closest"];
        let drive = closest["drive"].as_str().unwrap();
        let is_of_class = presets::find(drive).unwrap().class == preset.class;
        let fits = if found["nearest"].is_null() { ", none fits" } else { "" };
        let forecast = ProbeForecast::of(preset, 1).unwrap();
        let compared: Vec<f64> = LATENCIES
            .iter()
            .filter_map(|(name, question)| {
                let is = found["latencies"][*name]["p50_ns"].as_f64()?;
                let expected = forecast.by_host[0].1.median_ns(*question)?;
                (expected > COMPARED_NS).then_some(is / expected - 1.0)
            })
            .collect();
        let within = compared.iter().filter(|error| error.abs() <= WITHIN).count();
        let worst = compared.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs()));
        let worst = worst.map_or(String::new(), |worst| format!("{:+.0} %", 100.0 * worst));
        Self {
            is_named: drive == preset.name,
            is_of_class,
            text: format!(
                "| {} | {drive}{fits} | {:.2} | {} | {within} of {} | {worst} |",
                preset.name,
                closest["distance"].as_f64().unwrap(),
                if drive == preset.name {
                    "drive"
                } else if is_of_class {
                    "class"
                } else {
                    "no"
                },
                compared.len(),
            ),
        }
    }
}

/// Latencies of the output; a served drive gets no forced unit access.
const LATENCIES: [(&str, ProbeQuestion); 4] = [
    ("synced_write", ProbeQuestion::SyncedWrite),
    ("write", ProbeQuestion::Write),
    ("near_read", ProbeQuestion::NearRead),
    ("read", ProbeQuestion::Read),
];

fn names() {
    let is_all = std::env::var_os("SSDLAB_PROBE_ALL").is_some();
    let served: Vec<Preset> =
        presets::ALL.into_iter().filter(|preset| is_all || FEW.contains(&preset.name)).collect();
    let mut rows = Vec::new();
    for preset in served {
        let row = ProbedRow::of(preset);
        eprintln!("{}", row.text);
        rows.push(row);
    }
    let named = rows.iter().filter(|row| row.is_named).count();
    let classes = rows.iter().filter(|row| row.is_of_class).count();
    eprintln!("named {named} of {}, its class {classes}", rows.len());
    assert!(100 * classes >= 85 * rows.len(), "{classes} of {}", rows.len());
}

fn full() {
    let place = Place::new();
    let [image, mounted] = ["images/small", "mounted"].map(|name| place.path(name));
    fs::create_dir(&mounted).unwrap();
    let (image, mounted) = (image.display().to_string(), mounted.display().to_string());
    sh(&format!("truncate -s 300M {image}; mkfs.ext4 -q {image}; mount -o loop {image} {mounted}"));
    let refused = place.ssdlab(&["probe", "--dir", &mounted]).output().unwrap();
    sh(&format!("umount {mounted}; rm {image}"));
    assert_eq!(refused.status.code(), Some(4), "{}", shown(&refused));
    assert!(shown(&refused).contains("but a probe needs"), "{}", shown(&refused));
    assert_eq!(place.leftovers(), Vec::<String>::new());
}
