//! What is left of the logs, and in which order that happens.

use ssdlab_operations::{Entry, Tree};

use super::*;

const WORK: Rotate =
    Rotate { records: 47, size_bytes: 3000, keep: 3, compress: false, think_ns: 0 };

/// The files left, and their sizes.
fn left(work: Rotate) -> Vec<(String, u64)> {
    let mut tree = Tree::default();
    for step in Rotation::new(work, 1) {
        for operation in &step.script.operations {
            tree.apply(operation).unwrap();
        }
    }
    let file = |entry: Entry| match entry {
        Entry::File { size_bytes, path, .. } => (path.to_string(), size_bytes),
        other => panic!("{other:?}"),
    };
    tree.entries().map(file).collect()
}

#[test]
fn as_many_old_logs_as_asked_are_kept() {
    let log = |name: &str, bytes| (name.to_owned(), bytes);
    let names = ["rotated.log.1", "rotated.log.2", "rotated.log.3"];
    let kept = names.map(|name| log(name, 3000));
    // Seven logs of six records, and five more.
    assert_eq!(left(WORK), [&[log("rotated.log", 2500)], &kept[..]].concat());
    let kept = names.map(|name| log(&format!("{name}.gz"), 750));
    let compressed = Rotate { compress: true, ..WORK };
    assert_eq!(left(compressed), [&[log("rotated.log", 2500)], &kept[..]].concat());
    // The first rotations have nothing to delete.
    let few = Rotate { records: 12, ..WORK };
    let kept = [log("rotated.log", 0), log("rotated.log.1", 3000), log("rotated.log.2", 3000)];
    assert_eq!(left(few), kept);
}

#[test]
fn a_rotation_does_what_logrotate_does_in_its_order() {
    let fourth = |compress| -> Vec<String> {
        let work = Rotate { compress, ..WORK };
        let mut rotations = Rotation::new(work, 1).filter(|step| !step.is_operation);
        let script = rotations.nth(3).unwrap().script;
        let short = |line: String| line.replace("rotated.", "");
        script.operations.iter().map(ToString::to_string).map(short).collect()
    };
    let plain = [
        "close 0",
        "rename log.3 log.4",
        "rename log.2 log.3",
        "rename log.1 log.2",
        "rename log log.1",
        "create 0 write 640 log",
        "close 0",
        "unlink log.4",
    ];
    assert_eq!(fourth(false), plain);
    let compressed = fourth(true);
    assert_eq!(compressed[1], "rename log.3.gz log.4.gz");
    let anew = [
        "rename log log.1",
        "create 0 write 640 log",
        "close 0",
        "read-file log.1",
        "create 0 write 640 log.1.gz",
        "write 0 0 750",
        "close 0",
        "unlink log.1",
        "unlink log.4.gz",
    ];
    assert_eq!(compressed[4..], anew);
}
