//! Power cuts of devices that were logged with dm-log-writes.

use std::fs::{self, File};
use std::process::Output;

use serde_json::Value;

use super::common::{sh, shown};
use super::dm_log::{FLUSH, FUA, MARK, entry, log};
use super::support::{Place, contents_sha256, kernel};

pub const CASES: [(&str, fn()); 1] =
    [("a_logged_filesystem_is_damaged_if_a_flush_is_missing_and_not_otherwise", flushed)];

const IMAGE_BYTES: u64 = 512 << 20;
const BLOCK: usize = 4096;
const BLOCK_SECTORS: u64 = 8;

/// Blocks that the new filesystem does not use.
const UNUSED: std::ops::Range<u64> = 100_000..100_040;

fn write(block: u64, flags: u64, data: &[u8]) -> Vec<u8> {
    let mut entry = entry(block * BLOCK_SECTORS, BLOCK_SECTORS, flags, "", 512);
    entry[512..].copy_from_slice(data);
    entry
}

/// The log of a device on which a filesystem is made, which is marked; then data are written into
/// unused blocks, every fourth with FUA.
fn logged(place: &Place, is_flushed: bool) -> Vec<u8> {
    let image = place.path("made.img");
    File::create(&image).unwrap().set_len(IMAGE_BYTES).unwrap();
    sh(&format!("mkfs.ext4 -q -F '{}'", image.display()));
    let made = fs::read(&image).unwrap();
    let used = (0..).zip(made.chunks(BLOCK)).filter(|(_, data)| data.iter().any(|byte| *byte != 0));
    let mut entries: Vec<Vec<u8>> = used.map(|(block, data)| write(block, 0, data)).collect();
    if is_flushed {
        entries.push(entry(0, 0, FLUSH, "", 512));
    }
    entries.push(entry(0, 0, MARK, "made", 512));
    let fua = |block: u64| if block.is_multiple_of(4) { FUA } else { 0 };
    entries.extend(UNUSED.map(|block| write(block, fua(block), &[7; BLOCK])));
    log(&entries, 512)
}

/// A place with such a log and a blank image.
fn place(is_flushed: bool) -> Place {
    let place = Place::new();
    let log = logged(&place, is_flushed);
    fs::write(place.path("device.log"), log).unwrap();
    File::create(place.path("blank.img")).unwrap().set_len(IMAGE_BYTES).unwrap();
    place
}

/// Cuts the power so often, with two survivors each.
fn cut(place: &Place, cuts: &str, more: &[&str]) -> Output {
    let mut command = place.command(&["cut", "--device-log", "device.log"]);
    command.args(["--before", "blank.img", "--filesystem", "ext4", "--after", "made"]);
    command.args(["--cuts", cuts, "--survivors", "2", "--kernel"]);
    command.arg(kernel().as_ref().unwrap()).args(more).current_dir(place.path(""));
    command.output().unwrap()
}

fn json(place: &Place, more: &[&str]) -> Value {
    let output = cut(place, "20", &[&["--json"], more].concat());
    assert!(output.status.success(), "{}", shown(&output));
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", shown(&output)))
}

fn flushed() {
    let honest = json(&place(true), &[]);
    assert_eq!((&honest["number"], &honest["cases"][39]["cut"]), (&20.into(), &19.into()));
    assert_eq!(honest["unmountable"]["count"], 0, "{honest}");
    assert_eq!((&honest["amiss"]["count"], &honest["amiss"]["of"]), (&0.into(), &20.into()));
    assert!(honest["recovery_ns"]["p50"].as_u64() > Some(0), "{honest}");

    let place = place(false);
    let lying = json(&place, &[]);
    assert!(lying["amiss"]["count"].as_u64() > Some(10), "{lying}");
    let cases = lying["cases"].as_array().unwrap();
    assert!(cases.iter().all(|case| case["mark"] == "made"), "{lying}");
    // There are just ten writes with FUA, and no flushes: cuts at events are at the end of these.
    let at_events = cases.iter().filter(|case| case["moment"] == "event");
    let mut entries: Vec<u64> = at_events.map(|case| case["entry"].as_u64().unwrap()).collect();
    entries.dedup();
    let steps: Vec<u64> = entries.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(steps, [4; 9], "{lying}");

    // One case again, alone.
    let example = &lying["example"];
    let [number, survivor] = ["cut", "survivor"].map(|key| example[key].to_string());
    let only = ["--cut", &number, "--survivor", &survivor, "--image", "cut.img"];
    let again = json(&place, &only);
    let is_it = |case: &&Value| ["cut", "survivor"].iter().all(|key| case[key] == example[key]);
    let found = cases.iter().find(is_it).unwrap();
    for key in ["entry", "mark", "moment", "unchecked"] {
        assert_eq!(again[key], found[key], "{key}: {again}");
    }
    assert_eq!(again["unmountable"].is_null(), found["unmountable"].is_null(), "{again}");
    assert_eq!(again["amiss"].is_null(), found["amiss"].is_null(), "{again}");
    assert_eq!(again["contents_sha256"], contents_sha256(&place.path("cut.img")));

    let honest = self::place(true);
    json(&honest, &["--cut", "19", "--files", "cut.tar"]);
    let names = sh(&format!("tar -tf '{}'", honest.path("cut.tar").display()));
    assert!(names.lines().any(|name| name == "lost+found"), "{names}");

    let text = String::from_utf8(cut(&place, "1", &[]).stdout).unwrap();
    let command = "--after made --cuts 1 --survivors 2 --seed 1 --cut 0 --survivor ";
    assert!(text.contains(command), "{text}");
}
