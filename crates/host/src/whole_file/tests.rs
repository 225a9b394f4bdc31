use super::*;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::fs;
use std::os::unix::fs::symlink;

fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_file_is_there_whole_or_as_it_was() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("file");
    fs::write(&path, "before").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
    let half = |out: &mut dyn Write| {
        out.write_all(b"ha")?;
        Err(io::ErrorKind::StorageFull.into())
    };
    assert!(write(&path, half).is_err());
    assert_eq!(
        (fs::read(&path).unwrap(), names(place.path())),
        (b"before".to_vec(), vec!["file".to_owned()])
    );
    write(&path, |out| out.write_all(b"after")).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"after");
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(names(place.path()), ["file"]);
}

#[test]
fn a_file_may_have_holes() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("file");
    let mut file = WholeFile::begin(&path).unwrap();
    file.seek(SeekFrom::Start(4)).unwrap();
    file.write_all(b"data").unwrap();
    file.set_len(6).unwrap();
    file.keep().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"\0\0\0\0da");
}

#[test]
fn nothing_is_written_through_a_link_nor_in_the_place_of_something_else() {
    let place = tempfile::tempdir().unwrap();
    let [file, link, dangling, pipe, folder] =
        ["file", "link", "dangling", "pipe", "folder"].map(|name| place.path().join(name));
    fs::write(&file, "mine").unwrap();
    symlink(&file, &link).unwrap();
    symlink("nowhere", &dangling).unwrap();
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR, 0).unwrap();
    fs::create_dir(&folder).unwrap();
    let before = names(place.path());
    for path in [&link, &dangling, &pipe, &folder] {
        let error = write(path, |out| out.write_all(b"theirs")).unwrap_err().to_string();
        assert!(error.contains("symbolic link") || error.contains("not a regular file"), "{error}");
    }
    assert_eq!((fs::read(&file).unwrap(), names(place.path())), (b"mine".to_vec(), before));
}

#[test]
fn a_link_that_is_put_there_meanwhile_is_not_followed() {
    let place = tempfile::tempdir().unwrap();
    let [file, name] = ["file", "name"].map(|name| place.path().join(name));
    fs::write(&file, "mine").unwrap();
    let mut begun = WholeFile::begin(&name).unwrap();
    begun.write_all(b"theirs").unwrap();
    symlink(&file, &name).unwrap();
    assert!(begun.keep().is_err());
    assert_eq!(fs::read(&file).unwrap(), b"mine");
}
