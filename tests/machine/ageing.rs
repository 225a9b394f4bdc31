//! Aged filesystems in the image lab: their layout, the cache of aged images, and leftovers.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::Value;
use ssdlab_workload::layout_score;

use super::support::{Loop, Place, sh, shown, wait_for};
use super::{Case, case};

pub fn cases() -> Vec<Case> {
    vec![
        case("files_in_one_piece_and_in_many_have_the_layout_scores_they_should", scores),
        case("an_aged_image_is_made_once_shared_and_made_again_when_damaged", kept),
        case("a_target_that_is_not_reached_is_said", unreached),
        case("a_device_is_aged_in_place_and_a_directory_is_not", elsewhere),
        case("an_interrupted_ageing_leaves_nothing_behind", interrupted),
    ]
}

const PLAN: &str = r#"
    name = "aged"
    question = "Is an aged image kept?"
    [target]
    lab = "image"
    size = "64 MiB"
    [factors]
    filesystem = "ext4"
    atime = ["strictatime", "noatime"]
    age = "mail"
    [baseline]
    atime = "strictatime"
    [workload]
    tree = { files = 100, size = "1 MB" }
    phases = [{ do = "unpack", sync = true }]
"#;

/// Mounts a fresh filesystem; it is unmounted when dropped.
struct Mounted(PathBuf);

impl Mounted {
    fn new(place: &Place, device: &Loop, mkfs: &str) -> Self {
        let target = place.path("mounted");
        fs::create_dir(&target).unwrap();
        sh(&format!("{mkfs} {0} && mount {0} {1}", device.device, target.display()));
        Self(target)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        sh(&format!("umount {}", self.0.display()));
    }
}

fn scores() {
    const BLOCK: usize = 4096;
    let place = Place::new();
    let device = Loop::new(&place, "disk", 64);
    let mounted = Mounted::new(&place, &device, "mkfs.ext4 -q -b 4096");
    let folder = &mounted.0;
    let score = |names: &[&str]| {
        layout_score(folder, names.iter().copied(), BLOCK as u64).unwrap().unwrap()
    };
    fs::write(folder.join("whole"), vec![1; 256 * BLOCK]).unwrap();
    assert!(score(&["whole"]) > 0.98);
    // A file's preallocation is released when it is closed.
    for _ in 0..64 {
        for name in ["one", "other"] {
            let mut options = OpenOptions::new();
            let mut file = options.create(true).append(true).open(folder.join(name)).unwrap();
            file.write_all(&[1; BLOCK]).unwrap();
            file.sync_all().unwrap();
        }
    }
    let apart = score(&["one", "other"]);
    assert!(apart < 0.5, "{apart}");
    // 255 blocks that follow their predecessors, and this share of 126.
    let expected = (255.0 + 126.0 * apart) / 381.0;
    assert!((score(&["whole", "one", "other"]) - expected).abs() < 0.02);
    // A single block has no successor.
    fs::write(folder.join("block"), [1]).unwrap();
    assert_eq!(layout_score(folder, ["block"].into_iter(), BLOCK as u64).unwrap(), None);
}

/// The cached images.
fn images(place: &Place) -> Vec<PathBuf> {
    let entries = fs::read_dir(place.path("cache/ssdlab/aged")).into_iter().flatten().flatten();
    entries.map(|entry| entry.path().join("image")).collect()
}

fn trials(json: &Value) -> Vec<&Value> {
    let all = json["treatments"].as_array().unwrap();
    all.iter().map(|treatment| &treatment["trials"][0]).collect()
}

fn kept() {
    let place = Place::new();
    let run = || {
        let (code, json) = place.run(&place.plan(PLAN), &["--runs", "1", "--verify"]);
        assert_eq!(code, 0, "{json:#}");
        let trials = trials(&json);
        assert_eq!(trials[0]["aged"], trials[1]["aged"]);
        assert!(trials[0]["aged"]["layout_score"].as_f64().unwrap() < 0.9);
        trials[0]["aged"]["state"].as_str().unwrap().to_owned()
    };
    let state = run();
    let [image] = <[PathBuf; 1]>::try_from(images(&place)).unwrap();
    let bytes = || fs::read(&image).unwrap();
    let written = |image: &PathBuf| fs::metadata(image).unwrap().modified().unwrap();
    let (first, at) = (bytes(), written(&image));
    assert_eq!(run(), state);
    assert!(written(&image) == at && bytes() == first, "trials changed it, or it was made again");
    let file = OpenOptions::new().write(true).open(&image).unwrap();
    let place_of_a_byte = first.iter().position(|byte| *byte != 0).unwrap() as u64;
    file.write_all_at(b"?", place_of_a_byte).unwrap();
    run();
    assert!(bytes()[usize::try_from(place_of_a_byte).unwrap()] != b'?', "it was not made again");
    assert_eq!((images(&place).len(), place.leftovers()), (1, Vec::new()));
}

fn unreached() {
    let place = Place::new();
    let plan = place.plan(&PLAN.replace("\"mail\"", "\"desktop to 0.1\""));
    let (code, json) = place.run(&plan, &["--runs", "1", "--set", "atime=noatime"]);
    assert_eq!(code, 0, "{json:#}");
    assert_eq!(trials(&json)[0]["aged"]["is_at_target"], false);
    let run = fs::read_dir(place.path("data/ssdlab")).unwrap().next().unwrap().unwrap().path();
    let output = place.ssdlab(&["report", &run.display().to_string(), "--why"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("not what was asked for in 44 rounds"), "{text}");
}

fn elsewhere() {
    let place = Place::new();
    let plan = place.plan(&PLAN.replace("lab = \"image\"", "lab = \"device\""));
    let device = Loop::new(&place, "disk", 64);
    let run = |lab: &[&str]| -> Value {
        let mut command = place.ssdlab(&["run", &plan, "--json", "--runs", "1"]);
        let output = command.args(lab).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", shown(&output)))
    };
    let json = run(&["--device", &device.device]);
    for trial in trials(&json) {
        assert_eq!((&trial["status"], &trial["aged"]["state"]), (&"ok".into(), &Value::Null));
        assert!(trial["aged"]["layout_score"].as_f64().unwrap() < 0.9);
    }
    assert!(images(&place).is_empty());
    let images = place.path("images").display().to_string();
    let mut command = place.ssdlab(&["run", &plan, "--lab", "directory", "--dir", &images]);
    let output = command.args(["--set", "filesystem=any"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", shown(&output));
    assert!(shown(&output).contains("does not age"), "{}", shown(&output));
}

fn interrupted() {
    let place = Place::new();
    let plan = place.plan(&PLAN.replace("64 MiB", "1 GiB"));
    let images_folder = place.path("images").display().to_string();
    let mut child = place
        .ssdlab(&["run", &plan, "--runs", "1", "--dir", &images_folder])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for(|| !images(&place).is_empty());
    sh(&format!("kill -INT {}", child.id()));
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!((images(&place), place.leftovers()), (Vec::new(), Vec::new()));
}
