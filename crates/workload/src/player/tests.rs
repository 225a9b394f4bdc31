//! The effects of the player, and how it stops.

use std::fs;
use std::os::unix::fs::MetadataExt;

use ssdlab_host::interrupt::Interrupt;
use ssdlab_operations::Entry;

use super::*;
use crate::script::relative;

fn perform(place: &Path, script: &Script) -> Result<u64, WorkloadError> {
    let (contents, interrupt) = (FileContents::sample(), Interrupt::default());
    let rules = Rules { marker: "test", limit: Duration::from_mins(1), interrupt: &interrupt };
    let mut player = Player::new(place, &contents, rules)?;
    player.perform(script)?;
    Ok(player.written_bytes())
}

#[test]
fn every_operation_does_what_it_says() {
    let place = tempfile::tempdir().unwrap();
    let mut made = Script::default();
    made.make_directory("d");
    made.make_file("d/a", 0o644, 2_500_000, Content::Text { seed: 1 }, Some(7));
    made.make_file("d/b", 0o640, 7, Content::Archive { offset: 9 }, None);
    assert_eq!(perform(place.path(), &made).unwrap(), 2_500_007);
    let metadata = fs::metadata(place.path().join("d/a")).unwrap();
    assert_eq!((metadata.len(), metadata.mtime()), (2_500_000, 7));
    let mut changed = Script::default();
    changed.read("d/a");
    let (existing, path) = (relative("d/b"), relative("d/c"));
    changed.make(&Entry::Link { existing, path }, Content::Zeros, None);
    let (target, path) = (Box::from(*b"b"), relative("d/s"));
    changed.make(&Entry::Symlink { target, path }, Content::Zeros, None);
    changed.rename("d/b", "d/e");
    changed.operations.push(Operation::ListDirectory { path: relative("d") });
    changed.unlink("d/a");
    changed.update("d/f", 0o600, 4096, 10, Content::Zeros);
    changed.update("d/f", 0o600, 4000, 10, Content::Text { seed: 2 });
    assert_eq!(perform(place.path(), &changed).unwrap(), 20);
    assert_eq!(fs::metadata(place.path().join("d/f")).unwrap().len(), 4106);
    let of = |name: &str| fs::read(place.path().join("d").join(name));
    assert_eq!(of("e").unwrap(), b"archive");
    assert_eq!(of("c").unwrap(), b"archive");
    assert!(of("a").is_err() && of("b").is_err());
    assert!(fs::read_link(place.path().join("d/s")).is_ok());
}

#[test]
fn delete_takes_everything_and_follows_no_link() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("keep"), "x").unwrap();
    let place = tempfile::tempdir().unwrap();
    fs::create_dir_all(place.path().join("a/b/c")).unwrap();
    fs::write(place.path().join("a/b/f"), "x").unwrap();
    std::os::unix::fs::symlink(outside.path(), place.path().join("a/out")).unwrap();
    let (contents, interrupt) = (FileContents::sample(), Interrupt::default());
    let rules = Rules { marker: "test", limit: Duration::from_mins(1), interrupt: &interrupt };
    Player::new(place.path(), &contents, rules).unwrap().delete_all().unwrap();
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    assert!(outside.path().join("keep").exists());
}

#[test]
fn a_failing_operation_names_its_path() {
    let place = tempfile::tempdir().unwrap();
    let mut missing = Script::default();
    missing.read("no/such");
    let message = perform(place.path(), &missing).unwrap_err().to_string();
    assert!(message.contains("read-file no/such"), "{message}");
    // One that continues with an open file does, too.
    let mut full = Script::default();
    full.make_file("sparse", 0o644, 7, Content::Archive { offset: 1 << 40 }, None);
    let message = perform(place.path(), &full).unwrap_err().to_string();
    assert!(message.contains("write sparse"), "{message}");
    // A file in the way is never overwritten.
    fs::write(place.path().join("x"), "mine").unwrap();
    let mut made = Script::default();
    made.make_file("x", 0o644, 1, Content::Text { seed: 0 }, None);
    assert!(perform(place.path(), &made).is_err());
    assert_eq!(fs::read(place.path().join("x")).unwrap(), b"mine");
}

#[test]
fn work_stops_at_its_limit_and_on_an_interrupt() {
    let place = tempfile::tempdir().unwrap();
    let (contents, interrupt) = (FileContents::sample(), Interrupt::default());
    let mut made = Script::default();
    made.make_directory("d");
    let player = |limit| {
        let rules = Rules { marker: "test", limit, interrupt: &interrupt };
        Player::new(place.path(), &contents, rules).unwrap().perform(&made)
    };
    assert!(matches!(player(Duration::ZERO), Err(WorkloadError::Limit { .. })));
    interrupt.set();
    let long = Duration::from_mins(1);
    assert!(matches!(player(long), Err(WorkloadError::Interrupted)));
}
