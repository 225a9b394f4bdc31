//! House rules that a compiler does not know: arrows between rooms, module headers, sizes.

#[path = "tidy/circles.rs"]
mod circles;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// What each room may use. `plan`, `filesystem` and `host` are vocabulary: facts and thin calls.
const ARROWS: [(&str, &[&str]); 21] = [
    ("filesystem", &[]),
    ("host", &[]),
    ("slurm", &["host"]),
    ("plan", &["filesystem"]),
    ("undo", &["host"]),
    ("meter", &["host"]),
    ("kernel", &["host"]),
    ("aged", &["host"]),
    ("guest", &["plan", "host"]),
    ("workload", &["plan", "host"]),
    ("lab", &["plan", "filesystem", "host", "undo", "aged"]),
    ("results", &["plan", "filesystem", "host", "meter"]),
    ("ledger", &["filesystem", "results"]),
    ("import", &["plan", "meter", "results", "workload"]),
    ("advice", &["plan", "filesystem", "results"]),
    ("simulation", &[]),
    ("watch", &[]),
    ("export", &["plan", "results", "advice"]),
    ("report", &["plan", "filesystem", "results", "advice", "simulation"]),
    (
        "conductor",
        &[
            "plan",
            "filesystem",
            "host",
            "undo",
            "aged",
            "lab",
            "kernel",
            "guest",
            "slurm",
            "workload",
            "meter",
            "results",
            "ledger",
            "advice",
            "simulation",
        ],
    ),
    (
        "cli",
        &[
            "plan",
            "filesystem",
            "host",
            "undo",
            "aged",
            "lab",
            "workload",
            "meter",
            "results",
            "advice",
            "simulation",
            "kernel",
            "report",
            "watch",
            "export",
            "import",
            "conductor",
            "slurm",
        ],
    ),
];

/// Crates whose rooms are pure must not name these.
const IMPURE: [&str; 6] =
    ["std::fs", "std::net", "std::process", "Instant::now", "SystemTime", "HashMap"];

const PURE: [&str; 16] = [
    "src/plan",
    "src/filesystem",
    "src/report",
    "src/export",
    "src/advice",
    "src/workload/synthetic",
    "src/workload/printed",
    "src/import",
    "src/ledger",
    "src/simulation",
    "crates/flash/src",
    "crates/latency/src",
    "crates/quantity/src",
    "crates/stats/src",
    "crates/operations/src",
    "crates/trace/src",
];

/// Where files do not use each other in circles: the root of a crate, and a folder of it.
const WITHOUT_CIRCLES: [(&str, &str); 15] = [
    ("src", "src/plan"),
    ("src", "src/advice"),
    ("src", "src/conductor"),
    ("src", "src/host"),
    ("src", "src/slurm"),
    ("src", "src/meter"),
    ("src", "src/guest"),
    ("src", "src/watch"),
    ("src", "src/export"),
    ("src", "src/cli"),
    ("crates/stats/src", "crates/stats/src"),
    ("crates/disk/src", "crates/disk/src"),
    ("crates/serve/src", "crates/serve/src"),
    ("crates/quantity/src", "crates/quantity/src"),
    ("crates/flash/src", "crates/flash/src"),
];

const LONGEST_FILE: usize = 600;
const WIDEST_LINE: usize = 100;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn sources(folder: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                found.push((short(&path), fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "no sources in {folder}");
    found
}

fn short(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().display().to_string()
}

#[test]
fn rooms_use_only_the_rooms_they_may() {
    let allowed: BTreeMap<&str, &[&str]> = ARROWS.into();
    let mut wrong = Vec::new();
    for (path, text) in sources("src") {
        // Files beside the rooms (lib.rs, main.rs) belong to none.
        let Some((room, _)) = path.strip_prefix("src/").and_then(|path| path.split_once('/'))
        else {
            continue;
        };
        let arrows = allowed.get(room).unwrap_or_else(|| panic!("an unknown room: {room}"));
        for (index, line) in text.lines().enumerate() {
            for used in rooms_in(line) {
                if used != room && allowed.contains_key(used) && !arrows.contains(&used) {
                    wrong.push(format!("{path}:{}: {room} -> {used}", index + 1));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn files_of_a_room_do_not_use_each_other_in_circles() {
    let of_room = |(root, room): &(&str, &str)| circles::circles(root, &sources(room));
    let found: Vec<String> = WITHOUT_CIRCLES.iter().flat_map(of_room).collect();
    assert!(
        found.is_empty(),
        "files use each other in a circle; move what both need to a file of its own:\n\n{}",
        found.join("\n\n")
    );
}

/// The rooms that a line names: `crate::room` and `use crate::{room, ...}`.
fn rooms_in(line: &str) -> Vec<&str> {
    let mut rooms = Vec::new();
    for rest in line.split("crate::").skip(1) {
        let list = rest.strip_prefix('{').and_then(|rest| rest.split('}').next());
        for path in list.unwrap_or(rest).split(',') {
            let end = path.trim().find(|c: char| !c.is_ascii_lowercase() && c != '_');
            rooms.push(path.trim().get(..end.unwrap_or(path.trim().len())).unwrap_or_default());
            if list.is_none() {
                break;
            }
        }
    }
    rooms
}

#[test]
fn crates_use_only_the_crates_they_may() {
    let used: BTreeMap<String, BTreeSet<String>> = fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|folder| {
            let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
            let paths = manifest.lines().filter_map(|line| line.split_once("path = \"../"));
            let names = paths.filter_map(|(_, rest)| rest.split('"').next());
            (short(&folder), names.map(|name| format!("crates/{name}")).collect())
        })
        .collect();
    assert_eq!(used, arrows_of_crates());
}

/// The rows of ARCHITECTURE.md's arrows that begin with a crate.
fn arrows_of_crates() -> BTreeMap<String, BTreeSet<String>> {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let (_, arrows) = text.split_once("\n## Arrows\n").unwrap();
    let rows = arrows.lines().take_while(|line| !line.starts_with("## "));
    let crates = |cell: &str| -> BTreeSet<String> {
        let names = cell.split('`').filter(|name| name.starts_with("crates/"));
        names.map(str::to_owned).collect()
    };
    rows.filter(|row| row.starts_with("| `crates/"))
        .filter_map(|row| row.trim_matches('|').split_once('|'))
        .flat_map(|(of, may)| crates(of).into_iter().map(move |name| (name, crates(may))))
        .collect()
}

#[test]
fn every_file_says_what_it_defines_and_stays_small() {
    let mut wrong = Vec::new();
    for folder in ["src", "crates", "tests", "benches", "fuzz/fuzz_targets"] {
        for (path, text) in sources(folder) {
            // What `foo/tests.rs` is about, its place says.
            if !text.starts_with("//! ") && !path.ends_with("/tests.rs") {
                wrong.push(format!("{path}: no `//!` header"));
            }
            if text.contains("#[cfg(test)]\nmod tests {") {
                wrong.push(format!("{path}: tests belong in a file of their own, `mod tests;`"));
            }
            if text.lines().count() > LONGEST_FILE {
                wrong.push(format!("{path}: more than {LONGEST_FILE} lines"));
            }
            let wide = |line: &&str| line.chars().count() > WIDEST_LINE;
            if let Some(line) = text.lines().find(wide) {
                wrong.push(format!("{path}: wider than {WIDEST_LINE}: {line}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn pure_rooms_touch_nothing_outside() {
    let mut wrong = Vec::new();
    // Tests may do what the code they test must not.
    let is_test = |path: &str| path.ends_with("/tests.rs") || path.contains("/tests/");
    for (path, text) in PURE.iter().flat_map(|folder| sources(folder)) {
        for word in IMPURE {
            if text.contains(word) && !is_test(&path) {
                wrong.push(format!("{path}: {word}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_unsafe_block_says_why_it_is_safe_and_few_files_have_one() {
    let with_unsafe: Vec<String> = ["src", "crates"]
        .iter()
        .flat_map(|folder| sources(folder))
        .filter(|(_, text)| text.contains("unsafe {") || text.contains("unsafe impl"))
        .map(|(path, _)| path)
        .collect();
    // A prefetch, a ring, ioctls and the step between fork and exec: nothing else needs it.
    let known = [
        "src/guest/machine.rs",
        "src/host/block_ioctl.rs",
        "src/host/extents.rs",
        "src/host/loop_device.rs",
        "src/host/program.rs",
        "crates/engine/src/ring.rs",
        "crates/flash/src/prefetch.rs",
    ];
    assert_eq!(with_unsafe, known);
}
