//! House rules that a compiler does not check: floors of rooms, circles, names, headers, sizes.

#[path = "tidy/circles.rs"]
mod circles;
#[path = "tidy/size.rs"]
mod size;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use self::size::{Size, ambiguous_types, is_test, size};

/// Crates whose rooms are pure must not name these.
const IMPURE: [&str; 6] =
    ["std::fs", "std::net", "std::process", "Instant::now", "SystemTime", "HashMap"];

const PURE: [&str; 14] = [
    "crates/advice/src",
    "crates/causes/src",
    "crates/filesystem/src",
    "crates/flash/src",
    "crates/operations/src",
    "crates/plan/src",
    "crates/quantity/src",
    "crates/report/src",
    "crates/results/src/classification",
    "crates/results/src/import",
    "crates/stats/src",
    "crates/trace/src",
    "crates/workload/src/printed",
    "crates/workload/src/synthetic",
];

/// What the product may grow to. Lower it whenever that is possible.
const MOST: Size = Size { crates: 20, files: 784, lines: 120_523 };

const LONGEST_FILE: usize = 600;
const WIDEST_LINE: usize = 100;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The crates, by name.
fn rooms() -> Vec<String> {
    let folders = fs::read_dir(root().join("crates")).unwrap().map(|folder| folder.unwrap());
    let mut rooms: Vec<String> =
        folders.map(|folder| folder.file_name().into_string().unwrap()).collect();
    rooms.sort();
    rooms
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
fn files_of_a_room_do_not_use_each_other_in_circles() {
    let of_room = |room: &String| {
        let root = format!("crates/{room}/src");
        circles::circles(&root, &sources(&root))
    };
    let found: Vec<String> = rooms().iter().flat_map(of_room).collect();
    assert!(
        found.is_empty(),
        "files use each other in a circle; move what both need to a file of its own:\n\n{}",
        found.join("\n\n")
    );
}

#[test]
fn the_product_is_no_larger_than_its_limits() {
    let mut product = sources("crates");
    product.retain(|(path, _)| !path.starts_with("crates/xtask/"));
    let size = size(&product);
    let Size { crates, files, lines } = MOST;
    assert!(
        size.crates <= crates && size.files <= files && size.lines <= lines,
        "{size:?} is more than {MOST:?}: remove something, or say in the commit that raises the \
         limit why it must grow"
    );
}

#[test]
fn a_public_type_has_its_name_to_itself() {
    let found = ambiguous_types(&sources("crates"));
    assert!(found.is_empty(), "types of the same name:\n{}", found.join("\n"));
}

#[test]
fn rooms_use_rooms_of_lower_floors_only() {
    let floors = floors();
    let mut wrong = Vec::new();
    for room in &rooms() {
        let folder = root().join("crates").join(room);
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let paths = manifest.lines().filter_map(|line| line.split_once("path = \"../"));
        let used = paths.filter_map(|(_, rest)| rest.split('"').next());
        let lowest = used.map(|used| floors.get(used).copied().unwrap_or(u32::MAX)).max();
        if floors.get(room).copied() != Some(lowest.unwrap_or(0).saturating_add(1)) {
            wrong.push(format!("{room}: uses rooms of floor {lowest:?}"));
        }
    }
    assert!(wrong.is_empty(), "not as in ARCHITECTURE.md's picture:\n{}", wrong.join("\n"));
}

/// The rooms in ARCHITECTURE.md's picture: the first block of code, a line a floor.
fn floors() -> BTreeMap<String, u32> {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let picture = text.split("```\n").nth(1).expect("a picture of the rooms");
    let mut floors = BTreeMap::new();
    for line in picture.lines() {
        let mut words = line.split_whitespace();
        let floor = words.next().and_then(|word| word.parse().ok()).expect("a floor");
        floors.extend(words.map(|room| (room.to_owned(), floor)));
    }
    floors
}

#[test]
fn every_file_says_what_it_defines_and_stays_small() {
    let mut wrong = Vec::new();
    for folder in ["src", "crates", "tests", "benches", "fuzz/fuzz_targets"] {
        for (path, text) in sources(folder) {
            // The path of `foo/tests.rs` says what it tests.
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
    // Tests may use what pure code must not.
    for (path, text) in PURE.iter().flat_map(|folder| sources(folder)) {
        for word in IMPURE {
            if text.contains(word) && !is_test(&path) {
                wrong.push(format!("{path}: {word}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// docs/security.md says that ssdlab opens no port and connects to none.
#[test]
fn no_room_uses_the_network() {
    const SOCKETS: [&str; 6] =
        ["TcpListener", "TcpStream", "UdpSocket", "ToSocketAddrs", "SocketAddrV", "Family::INET"];
    // What clients and servers of all kinds are built on.
    const LIBRARIES: [&str; 8] =
        ["curl", "hyper", "mio", "native-tls", "rustls", "socket2", "tokio", "ureq"];
    let mut found = Vec::new();
    for (path, text) in ["src", "crates"].iter().flat_map(|folder| sources(folder)) {
        let used = SOCKETS.into_iter().filter(|name| text.contains(name) && !is_test(&path));
        found.extend(used.map(|name| format!("{path}: {name}")));
    }
    let locked = fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let depends = |name: &&str| locked.contains(&format!("name = \"{name}\"\n"));
    let depended = LIBRARIES.into_iter().filter(depends);
    found.extend(depended.map(|name| format!("Cargo.lock: {name}")));
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn metrics_are_looked_up_by_their_names_in_plan_only() {
    // A reader's query.
    let known = ["crates/cli/src/compare.rs"];
    let looks_up = |text: &str| {
        ["metric::of(", "metric::of)", "metric::find("].iter().any(|call| text.contains(call))
    };
    let is_elsewhere = |path: &str| !path.starts_with("crates/plan/") && !is_test(path);
    let found: Vec<String> = sources("crates")
        .into_iter()
        .filter(|(path, text)| is_elsewhere(path) && looks_up(text))
        .map(|(path, _)| path)
        .collect();
    assert_eq!(found, known, "take a `Metric`, or make one of its `Source`");
}

#[test]
fn every_unsafe_block_says_why_it_is_safe_and_few_files_have_one() {
    let with_unsafe: Vec<String> = ["src", "crates"]
        .iter()
        .flat_map(|folder| sources(folder))
        .filter(|(_, text)| text.contains("unsafe {") || text.contains("unsafe impl"))
        .map(|(path, _)| path)
        .collect();
    // Only a prefetch, a ring, ioctls, the step between fork and exec, a namespace, a signal's
    // handler, and the lab kernel's own call need it.
    let known = [
        "crates/disk/src/guest/confinement/tests.rs",
        "crates/disk/src/guest/in_place.rs",
        "crates/disk/src/guest/machine.rs",
        "crates/disk/src/vhost/shrunk.rs",
        "crates/flash/src/prefetch.rs",
        "crates/host/src/block_ioctl.rs",
        "crates/host/src/btrfs.rs",
        "crates/host/src/extents.rs",
        "crates/host/src/file_handle.rs",
        "crates/host/src/loop_device.rs",
        "crates/host/src/meter/smart/nvme.rs",
        "crates/host/src/name_watch.rs",
        "crates/host/src/program.rs",
        "crates/host/src/ptrace.rs",
        "crates/workload/src/calls.rs",
        "crates/workload/src/engine/ring.rs",
    ];
    assert_eq!(with_unsafe, known);
}
