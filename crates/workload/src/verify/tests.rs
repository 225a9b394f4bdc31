//! The oracle against the player, and the differences that it has to find.

use std::fs;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::time::Duration;

use proptest::prelude::*;
use ssdlab_host::program::Rules;
use ssdlab_operations::LogReader;
use tempfile::TempDir;

use super::*;
use crate::player::Player;
use crate::script::relative;

/// Operations of generators, including error-prone ones.
fn made_up() -> Script {
    let mut script = Script::default();
    let file = |script: &mut Script, path: &str, bytes, content| {
        script.make_file(path, 0o644, bytes, content, None);
    };
    let link = |script: &mut Script, path: &str, existing: &str| {
        let (existing, path) = (relative(existing), relative(path));
        script.make(&Entry::Link { existing, path }, Content::Zeros, None);
    };
    script.make_directory("d");
    script.make_directory("d/inner");
    // Longer than the unit of comparison.
    file(&mut script, "d/inner/text", 1_200_000, Content::Text { seed: 1 });
    file(&mut script, "d/binary", 5000, Content::Binary { seed: 2 });
    file(&mut script, "d/archived", 7, Content::Archive { offset: 9 });
    file(&mut script, "d-beside", 1, Content::Text { seed: 3 });
    file(&mut script, "gone", 0, Content::Text { seed: 4 });
    script.read("d/archived");
    let (target, path) = (Box::from(*b"no/where"), relative("s"));
    script.make(&Entry::Symlink { target, path }, Content::Zeros, None);
    link(&mut script, "name", "d/binary");
    script.rename("name", "d/binary");
    link(&mut script, "d/other", "d/archived");
    script.unlink("name");
    script.unlink("gone");
    script.rename("d", "e");
    file(&mut script, "new", 3, Content::Text { seed: 5 });
    script.rename("new", "d-beside");
    script.update("grown", 0o600, 0, 100, Content::Text { seed: 6 });
    script.update("grown", 0o600, 50, 100, Content::Zeros);
    script
}

/// The operations of a log.
fn recorded(lines: &str) -> Script {
    let log = format!("ssdlab operation log 1\ntitle x\nbefore\noperations\n{lines}end\n");
    let mut reader = LogReader::new(log.as_bytes()).unwrap();
    let next = || reader.next_operation().unwrap();
    Script::recorded(std::iter::from_fn(next).collect())
}

/// Everything that a program can do to the contents of a file.
const REWRITES: &str = "\
create 0 write 600 f\nwrite 0 0 5000 3\nclose 0\nrename f g\nopen 0 read,write g\n\
write 0 4000 2000\nwrite 0 20000 100\nopen 1 write g\nwrite 1 4096 1\nftruncate 5000 1\n\
ftruncate 30000 0\nwrite 0 28000 2000\nallocate 0 punch-hole 28672 1000\n\
allocate 0 zero-range 100 200\nallocate 0 extend 0 40000\nallocate 0 keep-size 40000 9000\n\
chmod 640 g\nlink g h\ncreate 2 write 644 t\nwrite 2 0 9000\nclose 2\n\
open 2 write,truncate t\nwrite 2 10 10\nunlink h\n";

/// A folder in which scripts have been performed, and the model of it.
fn performed(scripts: &[&Script]) -> (TempDir, Oracle) {
    let place = tempfile::tempdir().unwrap();
    let mut oracle = Oracle::default();
    for script in scripts {
        play(place.path(), script).unwrap();
        oracle.perform(script, super::umask().unwrap()).unwrap();
    }
    (place, oracle)
}

fn play(place: &Path, script: &Script) -> Result<(), WorkloadError> {
    let (contents, interrupt) = (FileContents::sample(), Interrupt::default());
    let rules = Rules { marker: "test", limit: Duration::from_mins(1), interrupt: &interrupt };
    Player::new(place, &contents, rules)?.perform(script)
}

fn compare(place: &Path, oracle: &Oracle) -> Result<(), String> {
    let compared = oracle.compare(
        place,
        &FileContents::sample(),
        &WatchedFiles::default(),
        &Interrupt::default(),
    );
    compared.map_err(|error| error.to_string())
}

/// Performs a script, does `damage`, and expects it to be reported.
fn finds(told: &str, script: &Script, damage: impl FnOnce(&Path)) {
    let (place, oracle) = performed(&[script]);
    damage(place.path());
    let difference = compare(place.path(), &oracle).unwrap_err();
    assert!(difference.contains(told), "{difference}");
}

#[test]
fn the_oracle_agrees_with_what_the_player_did_after_every_operation() {
    for script in [made_up(), recorded(REWRITES)] {
        for length in 0..=script.operations.len() {
            let mut part = script.clone();
            part.operations.truncate(length);
            let (place, oracle) = performed(&[&part]);
            assert_eq!(compare(place.path(), &oracle), Ok(()), "{:?}", part.operations.last());
        }
    }
}

#[test]
fn scripts_follow_each_other() {
    let again = recorded("open 0 write g\nwrite 0 0 100\n");
    let (place, oracle) = performed(&[&made_up(), &recorded(REWRITES), &again]);
    assert_eq!(compare(place.path(), &oracle), Ok(()));
}

#[test]
fn a_changed_byte_is_found() {
    let change = |path: &'static str, at| {
        move |place: &Path| {
            let file = File::options().write(true).read(true).open(place.join(path)).unwrap();
            let mut byte = [0];
            file.read_exact_at(&mut byte, at).unwrap();
            file.write_all_at(&[byte[0] ^ 1], at).unwrap();
        }
    };
    let text = change("e/inner/text", 1_100_000);
    finds("e/inner/text has the byte 1100000", &made_up(), text);
    for at in [0, 150, 4500, 28_600, 28_700, 39_999] {
        finds(&format!("g has the byte {at}"), &recorded(REWRITES), change("g", at));
    }
}

#[test]
fn what_is_missing_and_what_is_too_much_is_found() {
    finds("s is missing", &made_up(), |place| fs::remove_file(place.join("s")).unwrap());
    finds("e/extra should not be there", &made_up(), |place| {
        fs::write(place.join("e/extra"), "").unwrap();
    });
    // A file under its old name.
    finds("e/inner is missing", &made_up(), |place| {
        fs::rename(place.join("e/inner"), place.join("e/outer")).unwrap();
    });
    finds("e/pipe is neither", &made_up(), |place| {
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR);
        rustix::fs::mknodat(rustix::fs::CWD, place.join("e/pipe"), kind, mode, 0).unwrap();
    });
}

#[test]
fn other_kinds_sizes_modes_targets_and_links_are_found() {
    finds("e/binary has the size 4999", &made_up(), |place| {
        File::options().write(true).open(place.join("e/binary")).unwrap().set_len(4999).unwrap();
    });
    finds("e has the mode 700", &made_up(), |place| {
        fs::set_permissions(place.join("e"), fs::Permissions::from_mode(0o700)).unwrap();
    });
    finds("g has the mode 600", &recorded(REWRITES), |place| {
        fs::set_permissions(place.join("g"), fs::Permissions::from_mode(0o600)).unwrap();
    });
    finds("s has the target somewhere", &made_up(), |place| {
        fs::remove_file(place.join("s")).unwrap();
        std::os::unix::fs::symlink("somewhere", place.join("s")).unwrap();
    });
    finds("s is a file, not a symbolic link", &made_up(), |place| {
        fs::remove_file(place.join("s")).unwrap();
        fs::write(place.join("s"), "").unwrap();
    });
    finds("e/archived has the number of names 1", &made_up(), |place| {
        fs::rename(place.join("e/other"), place.join("e/kept")).unwrap();
        fs::copy(place.join("e/kept"), place.join("e/other")).unwrap();
        fs::remove_file(place.join("e/kept")).unwrap();
    });
}

/// Lines that open a file twice, and change its contents at random places.
fn rewrites() -> impl Strategy<Value = String> {
    let change = (0..6_u8, 0..2_u8, 0..40_u64, 1..20_u64).prop_map(|(kind, handle, at, length)| {
        let (at, length) = (at * 1024, length * 1024);
        match kind {
            0 => format!("allocate {handle} punch-hole {at} {length}\n"),
            1 => format!("allocate {handle} zero-range-keep-size {at} {length}\n"),
            2 => format!("ftruncate {at} {handle}\n"),
            _ => format!("write {handle} {at} {length}\n"),
        }
    });
    prop::collection::vec(change, 1..20).prop_map(|changes| {
        let changes = changes.concat();
        format!("create 0 write 600 f\nrename f g\nopen 1 write g\n{changes}")
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn contents_are_those_that_were_written(lines in rewrites()) {
        let (place, oracle) = performed(&[&recorded(&lines)]);
        prop_assert_eq!(compare(place.path(), &oracle), Ok(()));
    }
}
