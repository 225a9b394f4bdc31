//! Replays of logs: their results, their refusals, and how they stop.

use std::path::Path;
use std::time::Duration;

use ssdlab_host::interrupt::Interrupt;
use ssdlab_host::program::Rules;
use ssdlab_plan::{recordings, schedule};
use tempfile::NamedTempFile;

use super::*;
use crate::content::FileContents;
use crate::player::Player;
use crate::snapshot::DirectorySnapshot;
use crate::synthetic::content::ContentPool;
use crate::{PhaseContext, PreparedWorkload};

fn phases(names: &[&str]) -> Vec<Phase> {
    let replay = |name: &str| Action::Replay { log: Recording::Shipped(name.to_owned()) };
    let phase = |name: &&str| Phase::new(name, replay(name), 0);
    names.iter().map(phase).collect()
}

/// Performs a log in a directory; returns the bytes written.
fn perform(
    replay: &Replay,
    log: &Recording,
    directory: &Path,
    interrupt: &Interrupt,
) -> Result<u64, WorkloadError> {
    let contents = FileContents { pool: ContentPool::new(7), archive: None };
    let rules = Rules { marker: "test", limit: Duration::from_hours(1), interrupt };
    let mut player = Player::new(directory, &contents, rules)?;
    player.perform(replay.script(log))?;
    Ok(player.written_bytes())
}

/// A log with these lines between its first and its last; it is there as long as the file.
fn written(lines: &str) -> (Replay, Recording, NamedTempFile) {
    let file = NamedTempFile::new().unwrap();
    let log = format!("ssdlab operation log 1\ntitle x\n{lines}end\n");
    std::fs::write(file.path(), log).unwrap();
    let recording = Recording::File(file.path().to_owned());
    let phase = Phase::new("x", Action::Replay { log: recording.clone() }, 0);
    (Replay::read(&[phase], &FileHashes::new(), &Interrupt::default()).unwrap(), recording, file)
}

#[test]
fn what_estimates_know_of_shipped_logs_is_in_them() {
    for (name, known) in recordings::ALL {
        let replay =
            Replay::read(&phases(&[name]), &FileHashes::new(), &Interrupt::default()).unwrap();
        let (_, script) = &replay.logs[0];
        let found = (script.operations.len() as u64, script.written_bytes());
        assert_eq!((known.operations, known.written_bytes), found, "{name}");
    }
}

/// A log leaves the recorded tree, and does so repeatedly.
#[test]
fn a_replay_leaves_the_tree_that_was_recorded() {
    let names = ["zstd-clone", "zstd-make", "zstd-clean"];
    let replay = Replay::read(&phases(&names), &FileHashes::new(), &Interrupt::default()).unwrap();
    let trees = [(); 2].map(|()| {
        let directory = tempfile::tempdir().unwrap();
        let mut tree = Tree::default();
        for (recording, script) in &replay.logs {
            let done = perform(&replay, recording, directory.path(), &Interrupt::default());
            assert!(done.unwrap() > 0);
            for operation in &script.operations {
                tree.apply(operation).unwrap();
            }
            let found = DirectorySnapshot::of(directory.path()).unwrap().entries;
            assert_eq!(found, tree.entries().collect::<Vec<_>>(), "after {recording}");
        }
        std::fs::read(directory.path().join("lib/zstd.h")).unwrap()
    });
    assert_eq!(trees[0], trees[1]);
    assert!(!trees[0].is_empty());
}

/// The result of a replay is known, including contents.
#[test]
fn a_replay_can_be_verified() {
    let build: &[&str] = &["zstd-make", "zstd-clean"];
    for (logs, file, at) in [(build, "lib/zstd.h", 10_000), (&["desktop"], "notes.ods", 5000)] {
        let phases = phases(logs);
        let spec = schedule::Workload { phases: phases.clone(), ..schedule::Workload::default() };
        let mut workload =
            PreparedWorkload::new(&spec, &FileHashes::new(), 1, &Interrupt::default()).unwrap();
        let directory = tempfile::tempdir().unwrap();
        let (interrupt, limit) = (Interrupt::default(), Duration::from_hours(1));
        let rules = Rules { marker: "replay", limit, interrupt: &interrupt };
        let directory = directory.path();
        let place = PhaseContext { directory, mounted_at: directory, commit: &[], rules };
        workload.lay_out(&spec, place).unwrap();
        for phase in &phases {
            workload.perform(phase, place).unwrap();
        }
        assert!(workload.verify(&phases, place).unwrap());

        let path = directory.join(file);
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[at] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        let error = workload.verify(&phases, place).unwrap_err().to_string();
        assert!(error.contains(&format!("{file} has the byte {at}")), "{error}");
    }
}

/// `SQLite` syncs each commit, and writes pages of 4 KiB with headers of 24 bytes.
#[test]
fn a_database_is_replayed_with_its_syncs() {
    let phases = phases(&["kine"]);
    let replay = Replay::read(&phases, &FileHashes::new(), &Interrupt::default()).unwrap();
    let (_, script) = &replay.logs[0];
    let syncs = script.operations.iter().filter(|operation| operation.name() == "fdatasync");
    assert!((400..450).contains(&syncs.count()));
    assert!((15_000_000..16_000_000).contains(&script.written_bytes()));
    assert!(script.operations.iter().all(|operation| operation.name() != "unlink"));
}

/// A browser syncs its databases, and git what it commits.
#[test]
fn a_desktop_is_replayed_with_its_syncs() {
    let phases = phases(&["desktop"]);
    let replay = Replay::read(&phases, &FileHashes::new(), &Interrupt::default()).unwrap();
    let (_, script) = &replay.logs[0];
    let syncs = |name| script.operations.iter().filter(|own| own.name() == name).count();
    assert_eq!((syncs("fdatasync"), syncs("fsync")), (280, 6));
    assert!((3_000_000..3_100_000).contains(&script.written_bytes()));
}

/// A link planted by another user is not followed.
#[test]
fn a_planted_link_is_not_followed() {
    let (replay, recording, _log) = written(
        "before\ndirectory 755 d\noperations\ncreate 0 write 644 d/x\nwrite 0 0 4\nclose 0\n",
    );
    let [directory, outside] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    std::os::unix::fs::symlink(outside.path(), directory.path().join("d")).unwrap();
    let ended = perform(&replay, &recording, directory.path(), &Interrupt::default());
    assert!(ended.unwrap_err().to_string().contains("d/x"));
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
}

/// One operation may write for hours, so interrupts are checked between its chunks.
#[test]
fn an_interrupt_ends_a_long_write() {
    let (replay, recording, _log) =
        written("before\noperations\ncreate 0 write 644 x\nwrite 0 0 1000000000\nclose 0\n");
    let directory = tempfile::tempdir().unwrap();
    let interrupt = Interrupt::default();
    let path = directory.path().join("x");
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| perform(&replay, &recording, directory.path(), &interrupt));
        while !writer.is_finished() && !path.metadata().is_ok_and(|file| file.len() > 0) {
            std::thread::yield_now();
        }
        interrupt.set();
        let ended = writer.join().unwrap();
        assert!(matches!(ended, Err(WorkloadError::Interrupted)), "{ended:?}");
    });
}

#[test]
fn a_log_begins_where_the_one_before_ends_and_stays_in_its_directory() {
    let error = Replay::read(
        &phases(&["zstd-clone", "zstd-clean"]),
        &FileHashes::new(),
        &Interrupt::default(),
    )
    .unwrap_err();
    assert!(error.to_string().contains("is not the one that earlier phases leave"), "{error}");
    // Alone, it starts from the directory it was recorded in.
    let alone =
        Replay::read(&phases(&["zstd-make"]), &FileHashes::new(), &Interrupt::default()).unwrap();
    assert!(!alone.before.operations.is_empty());
    let file = NamedTempFile::new().unwrap();
    let mut phases = phases(&["zstd-make"]);
    phases[0].action = Action::Replay { log: Recording::File(file.path().to_owned()) };
    for (log, expected) in [
        ("ssdlab operation log 1\ntitle x\nbefore\noperations\nunlink ../x\nend\n", "line 5"),
        ("ssdlab operation log 1\ntitle x\nbefore\noperations\nunlink x\nend\n", "operation 1"),
        ("ssdlab operation log 1\ntitle x\nbefore\noperations\nmkdir 755 x\n", "cut"),
    ] {
        std::fs::write(file.path(), log).unwrap();
        let error = Replay::read(&phases, &FileHashes::new(), &Interrupt::default())
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{error}");
    }
}
