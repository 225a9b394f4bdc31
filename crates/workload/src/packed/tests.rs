//! What is archived is what was there, and what cannot be is named.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use super::pack;

#[test]
fn files_folders_and_links_are_archived_and_what_else_there_is_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let long = "n".repeat(200);
    fs::create_dir(root.join("sub")).unwrap();
    fs::write(root.join("sub").join(&long), vec![7; 100_000]).unwrap();
    fs::write(root.join("empty"), "").unwrap();
    symlink("/nowhere", root.join("link")).unwrap();
    let _socket = UnixListener::bind(root.join("socket")).unwrap();
    let (mut archive, mut unreadable) = (Vec::new(), Vec::new());
    pack(root, &mut archive, |name, _| unreadable.push(name.to_owned())).unwrap();
    assert_eq!(unreadable, [std::path::PathBuf::from("socket")]);
    let mut found = BTreeMap::new();
    for entry in tar::Archive::new(&archive[..]).entries().unwrap() {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().display().to_string();
        let target = entry.link_name().unwrap().map(|target| target.display().to_string());
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        found.insert(name, (target, bytes));
    }
    let of = |bytes: Vec<u8>| (None, bytes);
    let expected = [
        ("empty".to_owned(), of(Vec::new())),
        ("link".to_owned(), (Some("/nowhere".to_owned()), Vec::new())),
        ("sub".to_owned(), of(Vec::new())),
        (format!("sub/{long}"), of(vec![7; 100_000])),
    ];
    assert_eq!(found, expected.into());
}

#[test]
fn a_directory_that_is_gone_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut unreadable = Vec::new();
    let gone = folder.path().join("gone");
    pack(&gone, Vec::new(), |name, error| unreadable.push((name.to_owned(), error.kind())))
        .unwrap();
    assert_eq!(unreadable, [(std::path::PathBuf::new(), std::io::ErrorKind::NotFound)]);
}
