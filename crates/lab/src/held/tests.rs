use std::os::unix::fs::symlink;

use super::*;

#[test]
fn a_held_folder_is_the_one_that_was_made_and_stays_it() {
    let place = tempfile::tempdir().unwrap();
    let [made, moved, other] = ["made", "moved", "other"].map(|name| place.path().join(name));
    fs::create_dir(&made).unwrap();
    let held = HeldFolder::open(&made).unwrap();
    fs::rename(&made, &moved).unwrap();
    fs::create_dir(&other).unwrap();
    symlink(&other, &made).unwrap();
    fs::write(held.path().join("disk.img"), "x").unwrap();
    assert!(moved.join("disk.img").exists() && !other.join("disk.img").exists());
    // A link, and a folder that has contents.
    assert!(HeldFolder::open(&made).is_err());
    let error = HeldFolder::open(&moved).unwrap_err().to_string();
    assert!(error.contains("replaced"), "{error}");
}
