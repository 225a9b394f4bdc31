//! What came with the program is found, and used as a whole or not at all.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;

/// An archive with a program and its loader.
fn archive() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let guest = place.path().join("lib/ssdlab/guest");
    for name in ["bin/mkfs.ext4", &LOADER[1..]] {
        let path = guest.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "#!/bin/sh\necho \"$@\"\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    place
}

#[test]
fn what_came_with_a_program_is_beside_its_folder() {
    let place = archive();
    let found = below(&place.path().join("bin/ssdlab"), GUEST);
    assert_eq!(found, Some(place.path().join("lib/ssdlab/guest")));
    assert_eq!(below(&place.path().join("bin/ssdlab"), "kernel"), None);
    // A guest's first program.
    assert_eq!(below(Path::new("/init"), GUEST), None);
}

#[test]
fn programs_are_all_from_an_archive_or_all_from_the_machine() {
    let place = archive();
    let guest = || below(&place.path().join("bin/ssdlab"), GUEST);
    let whole = Toolbox::of(guest(), ["mkfs.ext4"]);
    assert_eq!(whole, Toolbox::Shipped(guest().unwrap()));
    let program = guest().unwrap().join("bin/mkfs.ext4");
    assert_eq!(whole.find("mkfs.ext4", "e2fsprogs").unwrap(), program);
    // Nobody has one: it is reported as missing, and the others run.
    let partly = Toolbox::of(guest(), ["mkfs.ext4", "mkfs.nowhere"]);
    assert_eq!(partly, Toolbox::Shipped(guest().unwrap()));
    assert!(matches!(partly.find("mkfs.nowhere", ""), Err(ProgramError::Missing { .. })));
    // This machine alone has one.
    assert_eq!(Toolbox::of(guest(), ["mkfs.ext4", "sh"]), Toolbox::Machine);
    assert_eq!(Toolbox::of(None, ["mkfs.ext4"]), Toolbox::Machine);
}

#[test]
fn an_archives_program_is_started_by_its_own_loader() {
    let place = archive();
    let guest = below(&place.path().join("bin/ssdlab"), GUEST).unwrap();
    let (libraries, program) = (guest.join("lib"), guest.join("bin/mkfs.ext4"));
    // The loader tells with what it was called.
    let version = Toolbox::Shipped(guest.clone()).version("mkfs.ext4", "-V").unwrap();
    let called = format!("--library-path {} {} -V", libraries.display(), program.display());
    assert_eq!(version, called);
    assert_eq!(Loader::of(Path::new("/usr/bin/true")).path(), Path::new(LOADER));
}
