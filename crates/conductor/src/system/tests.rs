//! A system has what was named, and nothing that leads out of it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use ssdlab_host::interrupt::Interrupt;
use ssdlab_plan::CommandSystem;

use super::make;

fn system(root: &Path, add: &Path) -> CommandSystem {
    CommandSystem {
        root: Some(root.to_owned()),
        add: vec![add.to_owned()],
        remedy: None,
        write_errors: None,
    }
}

#[test]
fn a_folder_and_an_archive_give_the_same_and_all_places() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    fs::create_dir_all(path("own/bin")).unwrap();
    fs::write(path("own/bin/tool"), "text").unwrap();
    fs::set_permissions(path("own/bin/tool"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("/bin/tool", path("own/link")).unwrap();
    fs::write(path("added"), "more").unwrap();
    let mut archive = tar::Builder::new(fs::File::create(path("own.tar")).unwrap());
    archive.follow_symlinks(false);
    archive.append_dir_all(".", path("own")).unwrap();
    archive.finish().unwrap();
    drop(archive);
    for (made, root) in [("of-folder", "own"), ("of-archive", "own.tar")] {
        fs::create_dir(path(made)).unwrap();
        let system = system(&path(root), &path("added"));
        let told = make(&path(made), &system, &Interrupt::default()).unwrap();
        assert!(told.starts_with("system sha256:"), "{told}");
        let inner = path(made).join("system");
        assert_eq!(fs::read_to_string(inner.join("bin/tool")).unwrap(), "text");
        let mode = inner.join("bin/tool").metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
        assert_eq!(fs::read_link(inner.join("link")).unwrap(), Path::new("/bin/tool"));
        let added = inner.join(path("added").strip_prefix("/").unwrap());
        assert_eq!(fs::read_to_string(added).unwrap(), "more");
        assert!(inner.join("mnt").is_dir() && inner.join("proc").is_dir());
    }
}

#[test]
fn links_of_a_system_lead_nowhere_but_into_it() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    for folder in ["own", "outside", "guest", "added"] {
        fs::create_dir(path(folder)).unwrap();
    }
    fs::write(path("added/file"), "text").unwrap();
    // The way to what is added, and to where something is mounted.
    let way = path("own").join(place.path().strip_prefix("/").unwrap());
    fs::create_dir_all(way.parent().unwrap()).unwrap();
    symlink("/no-such-folder", &way).unwrap();
    symlink(path("outside"), path("own/mnt")).unwrap();
    let whole = system(&path("own"), &path("added"));
    make(&path("guest"), &whole, &Interrupt::default()).unwrap();
    assert_eq!(fs::read_dir(path("outside")).unwrap().count(), 0);
    assert!(!Path::new("/no-such-folder").exists());
    let copy = path("guest/system/no-such-folder/added/file");
    assert_eq!(fs::read_to_string(copy).unwrap(), "text");
    symlink("round", path("own/round")).unwrap();
    let round = system(&path("own"), Path::new("/round/file"));
    assert!(make(&path("guest"), &round, &Interrupt::default()).is_err());
}

#[test]
fn folders_of_an_archive_that_are_only_read_are_unpacked() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    let mut archive = tar::Builder::new(fs::File::create(path("own.tar")).unwrap());
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::Directory);
    header.set_size(0);
    header.set_mode(0o555);
    archive.append_data(&mut header, "bin", &[][..]).unwrap();
    archive.finish().unwrap();
    drop(archive);
    fs::create_dir(path("guest")).unwrap();
    fs::write(path("added"), "").unwrap();
    let whole = system(&path("own.tar"), &path("added"));
    make(&path("guest"), &whole, &Interrupt::default()).unwrap();
    let mode = path("guest/system/bin").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
}

#[test]
fn what_is_not_there_is_named() {
    let place = tempfile::tempdir().unwrap();
    let system = system(place.path(), Path::new("/no/such/file"));
    let into = place.path().join("guest");
    fs::create_dir(&into).unwrap();
    let error = make(&into, &system, &Interrupt::default()).unwrap_err();
    assert!(error.to_string().contains("/no/such/file"), "{error}");
}
